import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderJson, stableJson, streamJson } from '../../src/report/json.ts';
import { printableJson } from '../../src/report/printable.ts';
import { reverseMembers } from '../bytes/documents.ts';
import { exportReport, failedPart, localReport, part } from './makers.ts';
import { forAll } from '../support/property.ts';

/** The same value with the members of every object in another order. */
const shuffled = (value: unknown): unknown => JSON.parse(JSON.stringify(value), reverseMembers);

describe('the JSON report', () => {
  const report = exportReport({ parts: [part(1), failedPart(2)], localReports: [localReport()] });

  it('is the whole report, begins with the members that a reader looks for, and ends with a newline', () => {
    const read = JSON.parse(renderJson(report)) as object;
    expect(read).toEqual(report);
    expect(Object.keys(read).slice(0, 4)).toEqual(['schemaVersion', 'kind', 'verdict', 'completeness']);
    expect(renderJson(report).endsWith('}\n')).toBe(true);
  });

  it('has the same bytes whatever order the report was built in', () => {
    expect(stableJson(shuffled(report))).toBe(renderJson(report));
    forAll(100, [fc.jsonValue()], (value) => {
      expect(stableJson(shuffled(value))).toBe(stableJson(value));
    });
  });

  it('keeps members whose names are special to JavaScript', () => {
    const odd = JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown;
    expect(stableJson(odd)).toBe('{\n  "__proto__": 1,\n  "constructor": 2\n}\n');
  });

  it('is written in pieces that are not longer for more parts, and are JSON.stringify of the ordered members', () => {
    const large = exportReport({ parts: Array.from({ length: 300 }, (_, n) => part(n + 1)) });
    const pieces = [...streamJson(large)];
    expect(pieces.length).toBeGreaterThan(3);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(80_000);
    expect(pieces.join('')).toBe(`${JSON.stringify(JSON.parse(pieces.join('')), null, 2)}\n`);
    forAll(100, [fc.jsonValue()], (value) => {
      const text = stableJson(value);
      expect(text).toBe(`${printableJson(JSON.stringify(JSON.parse(text), null, 2))}\n`);
      expect([...streamJson(value, '  ')].join('').trimEnd()).toBe(text.trimEnd().replaceAll('\n', '\n  '));
    });
  });
});
