import { beforeAll, describe, expect, it, vi } from 'vitest';
import { renderJson } from '../../src/report/index.ts';
import { JUDGES } from '../../src/selftest/index.ts';
import type { Report } from '../../src/verify/index.ts';
import { readVectors } from '../vectors/read.ts';
import { damaged, faultsOf, schemaOf } from './schema-of.ts';

/** Every report that was made while the vectors were judged, good and bad. */
const { reports, kept } = vi.hoisted(() => {
  const all: unknown[] = [];
  const keep = <R>(report: R): R => {
    all.push(report);
    return report;
  };
  return { reports: all, kept: keep };
});

vi.mock('../../src/verify/index.ts', async (original) => {
  const actual = await original<typeof import('../../src/verify/index.ts')>();
  return {
    ...actual,
    verifyExport: async (...args: Parameters<typeof actual.verifyExport>) =>
      kept(await actual.verifyExport(...args)),
    verifyPart: async (...args: Parameters<typeof actual.verifyPart>) =>
      kept(await actual.verifyPart(...args)),
    verifyAttestation: (...args: Parameters<typeof actual.verifyAttestation>) =>
      kept(actual.verifyAttestation(...args)),
    verifyToolSource: (...args: Parameters<typeof actual.verifyToolSource>) =>
      kept(actual.verifyToolSource(...args)),
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
    for (const { input } of readVectors(kind).cases) await JUDGES[kind]?.outcomes(input, 1);
    all = reports.map((one) => JSON.parse(renderJson(one as Report)) as Record<string, unknown>);
  });

  it('follow the published schema, whatever the evidence', () => {
    expect(all.length).toBeGreaterThan(30);
    expect(all.flatMap((report) => faultsOf(schema, report))).toEqual([]);
  });

  it.each(results)('are among them with the result %s', (result) => {
    expect(all.some((report) => report[member] === result)).toBe(true);
  });

  it('do not follow it when one value has another type or a member is not known', () => {
    for (const result of results) {
      const report = all.find((one) => one[member] === result);
      const passed = [...damaged(report)].filter(([, copy]) => schema(copy)).map(([what]) => what);
      expect(passed).toEqual([]);
    }
  });

  it('do not follow it when a verdict, a class or a state is misspelt, or a required member is absent', () => {
    const report = all.find((one) => one[member] === results.at(-1));
    expect(schema({ ...report, [member]: 'Verified' })).toBe(false);
    for (const required of ['schemaVersion', 'kind', member, 'checks', 'findings']) {
      const { [required]: _absent, ...rest } = report ?? {};
      expect(schema(rest)).toBe(false);
    }
  });

  it('are told from reports of another kind and version', () => {
    const [report] = all;
    expect(schema({ ...report, schemaVersion: 2 })).toBe(false);
    expect(schema({ ...report, kind: 'other' })).toBe(false);
  });
});
