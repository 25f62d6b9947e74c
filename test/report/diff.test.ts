import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/bytes/json/parse.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { diffReports, type ReportChange, renderDiff } from '../../src/report/diff.ts';
import { createSummary } from '../../src/report/many/summary.ts';
import { readReport } from '../../src/report/many/reports.ts';
import { renderJson, stableJson } from '../../src/report/json.ts';
import { exportReport, failedPart, localReport, part } from './makers.ts';
import { codeOf } from '../bytes/thrown-by.ts';
import { forAll } from '../support/property.ts';

const json = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;
const WHOLE = json(exportReport({ parts: [part(1), failedPart(2), part(3)], localReports: [localReport()] }));

type Leaf = { readonly at: readonly (string | number)[]; readonly value: JsonValue };

/** Every value in a report that holds no other. */
function leaves(value: JsonValue, at: readonly (string | number)[] = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leaves(item, [...at, i]));
  if (typeof value !== 'object' || value === null) return [{ at, value }];
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...at, name]));
}

/** The report with another value at one place. */
function altered(value: JsonValue, at: readonly (string | number)[], to: JsonValue): JsonValue {
  const [step, ...rest] = at;
  if (step === undefined) return to;
  if (Array.isArray(value)) return value.map((item, i) => (i === step ? altered(item, rest, to) : item));
  const members = value as Readonly<Record<string, JsonValue>>;
  return { ...members, [step]: altered(members[step]!, rest, to) };
}

const otherValue = (value: JsonValue): JsonValue => {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return typeof value === 'string' ? `${value}x` : 'x';
};

const MIRRORED = { appeared: 'vanished', vanished: 'appeared', changed: 'changed' } as const;
const mirrored = ({ change, way, counted, before, after }: ReportChange): ReportChange => ({
  change: MIRRORED[change],
  way,
  counted,
  ...(after !== undefined && { before: after }),
  ...(before !== undefined && { after: before }),
});

const anyReport = fc
  .array(fc.tuple(fc.constantFrom(...leaves(WHOLE)), fc.boolean()), { maxLength: 6 })
  .map((changes) =>
    changes.reduce(
      (report, [{ at, value }, same]) => altered(report, at, same ? value : otherValue(value)),
      WHOLE,
    ),
  );

describe('the difference of two reports', () => {
  it('is empty for a report and itself', () => {
    forAll(100, [anyReport], (report) => {
      expect(diffReports(report, report)).toMatchObject({ equal: true, changes: [] });
    });
  });

  it('is the mirror image if the reports are swapped', () => {
    forAll(100, [anyReport, anyReport], (a, b) => {
      expect(diffReports(b, a).changes).toEqual(diffReports(a, b).changes.map(mirrored));
    });
  });

  it.each(leaves(WHOLE).map(({ at, value }) => [at.join('/'), at, value] as const))(
    'reports a changed value at %s',
    (_name, at, value) => {
      const { changes, equal } = diffReports(WHOLE, altered(WHOLE, at, otherValue(value)));
      expect(changes.length).toBeGreaterThan(0);
      const isNoResult = ['asOfMs', 'message', 'reason'].includes(String(at.at(-1)));
      expect(equal).toBe(isNoResult);
    },
  );

  it('reports each part that appears or vanishes once', () => {
    const less = json(exportReport({ parts: [part(1), part(3)] }));
    const more = json(exportReport({ parts: [part(3), part(2), part(1)] }));
    const { changes } = diffReports(less, more);
    expect(changes).toMatchObject([{ change: 'appeared', counted: true }]);
    expect(changes[0]?.way[1]).toContain('evidence_000000000002');
  });

  it('reports a second equal finding', () => {
    const once = failedPart(1);
    const twice = { ...once, findings: [...once.findings, ...once.findings] };
    expect(diffReports(json(once), json(twice)).changes).toMatchObject([{ change: 'appeared' }]);
  });

  it('reports only the kind for a part and an export', () => {
    const { changes } = diffReports(json(part(1)), json(exportReport()));
    expect(changes).toEqual([
      { change: 'changed', way: ['kind'], counted: true, before: 'bundle', after: 'export' },
    ]);
  });

  it('groups changes by subject and escapes text from the evidence', () => {
    const evil = failedPart(2, { ...failedPart(2).findings[0]!, path: 'a\u001B[2Jb' });
    const after = json(exportReport({ verdict: 'failed', parts: [part(1), evil, part(3)] }));
    const text = renderDiff(diffReports(json(exportReport()), after));
    expect(text).toMatch(/^DIFFERENT results: \d+ differences\n/);
    expect(text).toMatch(/ {2}evidence_000000000002 [^\n]+\n {4}~ verdict: verified → failed\n/);
    expect(text).toContain('+ finding part.DIGEST_MISMATCH');
    expect(text).not.toContain('\u001B');
  });
});

const code = (text: string): unknown => codeOf(() => readReport(toUtf8(text)));

describe('reading a report', () => {
  it('accepts every written report, including one of many paths', () => {
    const report = exportReport({ parts: [failedPart(1)] });
    expect(readReport(toUtf8(renderJson(report)))).toEqual(json(report));
    const summary = createSummary();
    summary.add({ path: 'a', passed: false, report });
    summary.add({ path: 'b', passed: false, failure: { code: 'io.NOT_FOUND' } });
    const results = [{ path: 'a', passed: false, result: report }];
    const many = { schemaVersion: 1, kind: 'reports', results, summary: summary.summary() };
    expect(code(stableJson(many))).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['text', 'VERIFIED'],
    ['a list', '[]'],
    ['another kind', '{"kind":"error"}'],
    ['a kind that is a name of every object', '{"kind":"constructor"}'],
    ['a member twice', '{"kind":"export","kind":"export"}'],
    ['an unknown member', stableJson({ ...exportReport(), more: 1 })],
    ['an unknown code', renderJson(failedPart(1)).replaceAll('part.DIGEST_MISMATCH', 'part.NO_SUCH')],
    ['depth', '['.repeat(10_000)],
  ])('refuses %s', (_name, text) => {
    expect(code(text)).toBe('report.UNREADABLE');
  });

  it('throws only report.UNREADABLE for any bytes', () => {
    forAll(100, [fc.uint8Array({ maxLength: 200 })], (bytes) => {
      expect(() => readReport(bytes)).toThrow(expect.objectContaining({ code: 'report.UNREADABLE' }));
    });
  });

  it('prints the time of the verification once for all parts that repeat it, and a different time of one part', () => {
    const later = altered(
      JSON.parse(JSON.stringify(WHOLE).replaceAll(/"asOfMs":(\d+)/g, '"asOfMs":$11')) as JsonValue,
      ['parts', 2, 'asOfMs'],
      7,
    );
    const times = renderDiff(diffReports(WHOLE, later)).match(/~ asOfMs: [^\n]+/g) ?? [];
    expect(times).toHaveLength(2);
    expect(times[1]).toContain('1970-01-01T00:00:00.007Z');
  });
});
