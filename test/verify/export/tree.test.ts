import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { bagSource } from '../../../src/evidence/subtrees.ts';
import { memorySource, type EvidenceSource } from '../../../src/evidence/source.ts';
import { verifyExport, verifyExportTree, type ExportTreeReport } from '../../../src/verify/export/export.ts';
import { bagOf } from '../../support/bag.ts';
import { codesOf, flipBit, stateOf } from '../../support/evidence.ts';
import { failListing, omitFiles } from '../sources.ts';
import { options, PART, REPORT, sample, source, type Files } from './setup.ts';

const verifySource = (from: EvidenceSource): Promise<ExportTreeReport> => verifyExportTree(from, options);
const verify = (files: Files): Promise<ExportTreeReport> => verifySource(memorySource(files));
const verifyBag = (changes: Files) => verifySource(bagSource(memorySource(bagOf(sample.files, changes))));

describe('the tree of an export', () => {
  it('has the checks, findings and signer of the whole export', async () => {
    const report = await verifySource(source);
    const whole = await verifyExport(source, options);
    expect([report.checks, report.findings]).toEqual([whole.checks, whole.findings]);
    expect(report.manifest).toEqual(sample.packed.manifest);
    expect(report.manifestDigest).toBe(sample.packed.manifestDigest);
    expect(report.signer).toEqual(whole.signer);
    expect(report.files.map(({ path }) => path).toSorted()).toEqual(Object.keys(sample.files).toSorted());
  });

  it.each(['manifest.json', 'export.json', 'export-attestation.json'])(
    'is refused like the whole export over a damaged %s',
    async (path) => {
      const files = { ...sample.files, [path]: toUtf8('{}'), 'parts/more.zip': toUtf8('x') };
      const report = await verify(files);
      const whole = await verifyExport(memorySource(files), options);
      expect(report.checks.some(({ state }) => state === 'failed')).toBe(true);
      expect([report.checks, report.findings]).toEqual([whole.checks, whole.findings]);
    },
  );

  it('has no manifest, signer or digest when there is none', async () => {
    const report = await verify({ 'notes.txt': toUtf8('hi') });
    for (const name of ['manifest', 'manifestDigest', 'signer']) expect(report).not.toHaveProperty(name);
  });

  it('has no files when it cannot be listed, and only that finding', async () => {
    const report = await verifySource(failListing(source));
    expect([report.files, report.checks, codesOf(report)]).toEqual([[], [], ['io.UNREADABLE']]);
  });

  it('is verified without reading parts and reports, even if a bag states their digests', async () => {
    const report = await verifyBag({
      [`data/${PART}`]: flipBit(sample.files[PART]!, 100),
      [`data/${REPORT}`]: flipBit(sample.files[REPORT]!, 3),
    });
    expect([stateOf(report, 'export.bag'), report.findings]).toEqual(['passed', []]);
    const other = bagOf({ ...sample.files, [PART]: toUtf8('x'), [REPORT]: toUtf8('y') });
    const stated = await verifyBag({ 'manifest-sha256.txt': other['manifest-sha256.txt']! });
    expect(stateOf(stated, 'export.bag')).toBe('failed');
    expect(codesOf(stated)).toEqual(['bag.PAYLOAD_MISMATCH', 'bag.TAG_MISMATCH']);
    const paths = stated.findings
      .filter(({ code }) => code === 'bag.PAYLOAD_MISMATCH')
      .map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set([`data/${PART}`, `data/${REPORT}`]));
  });

  it('without a manifest is still verified as a bag', async () => {
    const bag = bagOf(omitFiles(sample.files, 'manifest.json'));
    const report = await verifySource(bagSource(memorySource(bag)));
    expect(stateOf(report, 'export.bag')).toBe('passed');
    expect(codesOf(report)).toContain('export.MANIFEST_MISSING');
  });
});
