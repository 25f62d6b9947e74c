import { beforeAll, describe, expect, it, vi } from 'vitest';
import { renderJson } from '../../src/report/index.ts';
import { CASE_KINDS } from '../../src/selftest/index.ts';
import type { Report } from '../../src/verify/index.ts';
import { readVectors } from '../vectors/read.ts';
import { damaged, faultsOf, schemaOf } from './schema-of.ts';

/** Every report that a run of the vectors makes, good and bad. */
const { reports, record } = vi.hoisted(() => {
  const all: unknown[] = [];
  const add = <R>(report: R): R => {
    all.push(report);
    return report;
  };
  return { reports: all, record: add };
});

vi.mock('../../src/verify/index.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/index.ts')>();
  return {
    ...actual,
    verifyExport: async (...args: Parameters<typeof actual.verifyExport>) =>
      record(await actual.verifyExport(...args)),
    verifyPart: async (...args: Parameters<typeof actual.verifyPart>) =>
      record(await actual.verifyPart(...args)),
    verifyAttestation: (...args: Parameters<typeof actual.verifyAttestation>) =>
      record(actual.verifyAttestation(...args)),
    verifyToolSource: (...args: Parameters<typeof actual.verifyToolSource>) =>
      record(actual.verifyToolSource(...args)),
  };
});

const KINDS = [
  ['exports', 'export-report', 'verdict', ['verified', 'intact', 'incomplete', 'failed']],
  ['bundles', 'bundle-report', 'verdict', ['verified', 'intact', 'failed']],
  ['attestations', 'attestation-report', 'verdict', ['valid', 'not_judged', 'invalid']],
  ['tool-sources', 'tool-source-report', 'verdict', ['verified', 'intact', 'failed']],
] as const;

describe.each(KINDS)('reports on %s', (kind, name, member, results) => {
  let all: Record<string, unknown>[] = [];
  const schema = schemaOf(name);

  beforeAll(async () => {
    reports.length = 0;
    for (const { input } of readVectors(kind).cases) await CASE_KINDS[kind]?.outcomes(input, 1);
    all = reports.map((one) => JSON.parse(renderJson(one as Report)) as Record<string, unknown>);
  });

  it(`every report on ${kind} follows the published schema`, () => {
    expect(all.length).toBeGreaterThan(30);
    expect(all.flatMap((report) => faultsOf(schema, report))).toEqual([]);
  });

  it.each(results)(`the vectors make a report on ${kind} with the result %s`, (result) => {
    expect(all.some((candidate) => candidate[member] === result)).toBe(true);
  });

  it(`a report on ${kind} does not follow the schema with a wrong type or an unknown member`, () => {
    for (const result of results) {
      const report = all.find((candidate) => candidate[member] === result);
      const passed = [...damaged(report)].filter(([, copy]) => schema(copy)).map(([what]) => what);
      expect(passed).toEqual([]);
    }
  });

  it(`a report on ${kind} does not follow the schema with a misspelt verdict or without a required member`, () => {
    const report = all.find((candidate) => candidate[member] === results.at(-1));
    expect(schema({ ...report, [member]: 'Verified' })).toBe(false);
    for (const required of ['schemaVersion', 'kind', member, 'checks', 'findings']) {
      const { [required]: _absent, ...rest } = report ?? {};
      expect(schema(rest)).toBe(false);
    }
  });

  it(`a report on ${kind} does not follow the schema with another kind or version`, () => {
    const [report] = all;
    expect(schema({ ...report, schemaVersion: 2 })).toBe(false);
    expect(schema({ ...report, kind: 'other' })).toBe(false);
  });
});
