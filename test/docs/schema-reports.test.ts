import { beforeAll, describe, expect, it, vi } from 'vitest';
import { renderJson } from '../../src/report/json.ts';
import { CASE_KINDS } from '../../src/selftest/result.ts';
import type { Report } from '../../src/verify/report.ts';
import { readVectors } from '../vectors/read.ts';
import { faultsOf, missedFaults, schemaOf } from './schema-of.ts';

/** Every report that a run of the vectors produces, or its promise. */
const { reports, record } = vi.hoisted(() => {
  const all: unknown[] = [];
  const add =
    <Args extends unknown[], R>(verify: (...args: Args) => R) =>
    (...args: Args): R => {
      const report = verify(...args);
      all.push(report);
      return report;
    };
  return { reports: all, record: add };
});

vi.mock('../../src/verify/export/export.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/export/export.ts')>();
  return { ...actual, verifyExport: record(actual.verifyExport) };
});
vi.mock('../../src/verify/part/part.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/part/part.ts')>();
  return { ...actual, verifyPart: record(actual.verifyPart) };
});
vi.mock('../../src/verify/verify-attestation.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/verify-attestation.ts')>();
  return { ...actual, verifyAttestation: record(actual.verifyAttestation) };
});
vi.mock('../../src/verify/tool-source.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/tool-source.ts')>();
  return { ...actual, verifyToolSource: record(actual.verifyToolSource) };
});

describe.each([
  ['exports', 'export-report', ['verified', 'intact', 'incomplete', 'failed']],
  ['bundles', 'bundle-report', ['verified', 'intact', 'failed']],
  ['attestations', 'attestation-report', ['valid', 'not_checked', 'invalid']],
  ['tool-sources', 'tool-source-report', ['verified', 'intact', 'failed']],
] as const)('reports on %s', (kind, name, verdicts) => {
  let all: Record<string, unknown>[] = [];
  const schema = schemaOf(name);

  beforeAll(async () => {
    reports.length = 0;
    for (const { input } of readVectors(kind).cases) await CASE_KINDS[kind]?.outcomes(input, 1);
    const settled = await Promise.allSettled(reports);
    const done = settled.flatMap((end) => (end.status === 'fulfilled' ? [end.value as Report] : []));
    all = done.map((report) => JSON.parse(renderJson(report)) as Record<string, unknown>);
  });

  it(`every report on ${kind} follows the published schema`, () => {
    expect(all.length).toBeGreaterThan(30);
    expect(all.flatMap((report) => faultsOf(schema, report))).toEqual([]);
  });

  it.each(verdicts)(
    `the schema refuses every damaged copy of a report on ${kind} with the verdict %s`,
    (verdict) => {
      const report = all.find((candidate) => candidate['verdict'] === verdict);
      expect(report).toBeDefined();
      expect(missedFaults(schema, [report])).toEqual([]);
    },
  );

  it.each([
    ...Object.entries({ verdict: 'Verified', schemaVersion: 2, kind: 'other' }),
    ...['schemaVersion', 'kind', 'verdict', 'checks', 'findings'].map(
      (member) => [member, undefined] as const,
    ),
  ])(`the schema refuses a report on ${kind} whose member %s is %s`, (member, value) => {
    const report = { ...all.at(-1), [member]: value };
    expect(schema(JSON.parse(JSON.stringify(report)))).toBe(false);
  });
});
