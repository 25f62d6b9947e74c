import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { bagSource, memorySource, type EvidenceSource } from '../../../src/evidence/index.ts';
import { verifyExport, verifyExportTree, type ExportTreeReport } from '../../../src/verify/index.ts';
import { bagOf, type Files } from '../../support/bag.ts';
import { codesOf, flipped, makeExport, makeTrust, NOW, stateOf } from '../../support/evidence.ts';

const PART = 'parts/evidence_000000000001.zip';
const REPORT = 'local-reports/lrep_000000000001.zip';
const made = await makeExport();

const options = () => ({ asOfMs: NOW, trust: makeTrust(made.signer) });
const treeOf = (source: EvidenceSource): Promise<ExportTreeReport> => verifyExportTree(source, options());
const tree = (files: Files): Promise<ExportTreeReport> => treeOf(memorySource(files));

describe('the tree of an export', () => {
  it('has the checks, findings and signer of the whole export', async () => {
    const report = await tree(made.files);
    const whole = await verifyExport(memorySource(made.files), options());
    expect([report.checks, report.findings]).toEqual([whole.checks, whole.findings]);
    expect(report.manifest).toEqual(made.packed.manifest);
    expect(report.manifestDigest).toBe(made.packed.manifestDigest);
    expect(report.signer).toEqual(whole.signer);
    expect(report.files.map(({ path }) => path).toSorted()).toEqual(Object.keys(made.files).toSorted());
  });

  it.each(['manifest.json', 'export.json', 'export-attestation.json'])(
    'is refused as the whole export is over a damaged %s',
    async (path) => {
      const files = { ...made.files, [path]: toUtf8('{}'), 'parts/more.zip': toUtf8('x') };
      const report = await tree(files);
      const whole = await verifyExport(memorySource(files), options());
      expect(report.checks.some(({ state }) => state === 'failed')).toBe(true);
      expect([report.checks, report.findings]).toEqual([whole.checks, whole.findings]);
    },
  );

  it('has no manifest, signer or digest when there is none', async () => {
    const report = await tree({ 'notes.txt': toUtf8('hi') });
    expect(report).not.toHaveProperty('manifest');
    expect(report).not.toHaveProperty('manifestDigest');
    expect(report).not.toHaveProperty('signer');
  });

  it('has no files when it cannot be listed, and only that finding', async () => {
    const source = {
      ...memorySource(made.files),
      files: () => Promise.reject(new DrillproofError('io.UNREADABLE', 'no')),
    };
    const report = await treeOf(source);
    expect([report.files, report.checks, codesOf(report)]).toEqual([[], [], ['io.UNREADABLE']]);
  });

  it('is verified without reading parts and reports, even if a bag states their digests', async () => {
    const bag = (changes: Files) => treeOf(bagSource(memorySource(bagOf(made.files, changes))));
    const damaged = {
      [`data/${PART}`]: flipped(made.files[PART]!, 100),
      [`data/${REPORT}`]: flipped(made.files[REPORT]!, 3),
    };
    const report = await bag(damaged);
    expect([stateOf(report, 'export.bag'), report.findings]).toEqual(['passed', []]);
    const other = bagOf({ ...made.files, [PART]: toUtf8('x'), [REPORT]: toUtf8('y') });
    const lines = other['manifest-sha256.txt']!;
    const stated = await bag({ 'manifest-sha256.txt': lines });
    expect([stateOf(stated, 'export.bag'), codesOf(stated)]).toEqual([
      'failed',
      ['bag.PAYLOAD_MISMATCH', 'bag.TAG_MISMATCH'],
    ]);
    const paths = stated.findings
      .filter(({ code }) => code === 'bag.PAYLOAD_MISMATCH')
      .map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set([`data/${PART}`, `data/${REPORT}`]));
  });

  it('without a manifest is still verified as a bag', async () => {
    const { 'manifest.json': _, ...files } = made.files;
    const report = await treeOf(bagSource(memorySource(bagOf(files))));
    expect(stateOf(report, 'export.bag')).toBe('passed');
    expect(codesOf(report)).toContain('export.MANIFEST_MISSING');
  });
});
