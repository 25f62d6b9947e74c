import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/evidence/source.ts';
import { chainOf, LINKS } from '../../../src/report/html/chain.ts';
import type { LinkState } from '../../../src/report/html/blocks.ts';
import { CHECKS } from '../../../src/verify/checks.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import { finding } from '../../../src/verify/finding.ts';
import { verifyExport, type VerifyExportOptions } from '../../../src/verify/export/export.ts';
import { flipBit, makeExport, makeTrust, NOW } from '../../support/evidence.ts';
import { exportReport, part } from '../makers.ts';

const LINK_IDS = Object.keys(LINKS);
const sample = await makeExport({ parts: 2 });
const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };

const verify = (change: Record<string, Uint8Array> = {}, more: Partial<VerifyExportOptions> = {}) =>
  verifyExport(memorySource({ ...sample.files, ...change }), { ...options, ...more });
const states = (report: ExportReport): LinkState[] => chainOf(report).map(({ state }) => state);
const statesById = (report: ExportReport): Record<string, LinkState> =>
  Object.fromEntries(chainOf(report).map(({ id, state }) => [id, state]));
const firstOf = (report: ExportReport): string | undefined => chainOf(report).find(({ first }) => first)?.id;
const PART = Object.keys(sample.files).find((path) => path.startsWith('parts/'))!;

describe('the chain of a report', () => {
  it('holds in every link for a verified export with a signed list', async () => {
    const report = await verify();
    expect(states(report)).toEqual(LINK_IDS.map(() => 'holds'));
    expect(firstOf(report)).toBeUndefined();
  });

  it.each<[string, string, Record<string, Uint8Array>, Partial<VerifyExportOptions>?]>([
    ['archives', 'a changed part', { [PART]: flipBit(sample.files[PART]!, 300) }],
    ['documents', 'a changed manifest', { 'manifest.json': flipBit(sample.files['manifest.json']!, 40) }],
    ['keys', 'a key that expired', {}, { trust: makeTrust(sample.signer, { notAfterMs: 1 }) }],
  ])('breaks at the %s for %s, and claims nothing that depends on them', async (id, _what, change, more) => {
    const report = await verify(change, more);
    const at = LINK_IDS.findIndex((link) => link === id);
    expect(firstOf(report)).toBe(id);
    expect(states(report).slice(0, at)).toEqual(Array(at).fill('holds'));
    const behind = states(report).slice(at + 1, -1); // the list depends on no other link
    expect(behind).toEqual(behind.map(() => 'could_not_tell'));
  });

  it('holds for the signed list of an export whose part was changed, and names the parts that are not claimed', async () => {
    const chain = chainOf(await verify({ [PART]: flipBit(sample.files[PART]!, 300) }));
    expect(chain.find(({ id }) => id === 'list')?.state).toBe('holds');
    expect(chain.find(({ id }) => id === 'signatures')).toMatchObject({
      state: 'could_not_tell',
      why: expect.stringMatching(/^1 of 2 parts: Not claimed/),
    });
  });

  it('was not asked about keys and signatures without trusted keys', async () => {
    const { trust: _trust, ...asked } = options;
    expect(statesById(await verifyExport(memorySource(sample.files), asked))).toMatchObject({
      statements: 'holds',
      keys: 'not_asked',
      signatures: 'not_asked',
      list: 'not_asked',
    });
  });

  it('was not asked about the content of archives at depth digest, and then claims no signature', async () => {
    expect(statesById(await verify({}, { depth: 'digest' }))).toMatchObject({
      archives: 'holds',
      bundles: 'not_asked',
      signatures: 'not_asked',
      list: 'holds',
    });
  });

  it('could not tell whether evidence without a signature is authentic', () => {
    const { signer: _signer, ...unsigned } = part(1, {
      verdict: 'intact',
      signed: false,
      checks: [
        { id: 'part.bytes', state: 'passed' },
        { id: 'attestation.signature', state: 'not_applicable', reason: 'no one signed this bundle' },
      ],
    });
    expect(chainOf(unsigned).find(({ id }) => id === 'signatures')?.state).toBe('could_not_tell');
  });

  it('breaks at the first link for an error that no check has', () => {
    const fault = finding('dsse.SUBJECT_UNKNOWN', 'export', { message: 'no such bundle' });
    const report = exportReport({ verdict: 'failed', findings: [fault] });
    expect(chainOf(report).filter(({ first }) => first)).toHaveLength(1);
    expect(states(report)).toContain('does_not_hold');
  });

  it('could not tell about an export without parts', () => {
    expect(states(exportReport({ parts: [], verdict: 'incomplete' }))).not.toContain('does_not_hold');
    expect(states(exportReport({ parts: [], verdict: 'incomplete' }))).toContain('could_not_tell');
  });

  it('has every check of an export, a bundle and a local report in exactly one link', () => {
    const linked: string[] = Object.values(LINKS).flatMap(({ checks }) => checks);
    const rows = Object.entries(CHECKS).filter(([, { of }]) =>
      of.some((subject) => ['export', 'bundle', 'local-report'].includes(subject)),
    );
    expect(linked.toSorted()).toEqual(rows.map(([id]) => id).toSorted());
  });
});
