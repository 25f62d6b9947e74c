import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { bagSource, memorySource, type EvidenceSource } from '../../../src/evidence/index.ts';
import { verifyExport, type ExportReport } from '../../../src/verify/index.ts';
import { bagOf, manifestOf, type Files } from '../../support/bag.ts';
import { flipBit, makeExport, makeTrust, NOW } from '../../support/evidence.ts';
import { countOpens, failListing, failReads, replaceByLink } from '../sources.ts';

const sample = await makeExport();

const { files } = sample;
const verifySource = (source: EvidenceSource): Promise<ExportReport> =>
  verifyExport(source, { asOfMs: NOW, trust: makeTrust(sample.signer) });
const verify = (bag: Files): Promise<ExportReport> => verifySource(bagSource(memorySource(bag)));
const codesOf = ({ findings }: ExportReport): string[] =>
  findings.map(({ code }) => code).filter((code) => code.startsWith('bag.'));
const stateOf = ({ checks }: ExportReport) => checks.find(({ id }) => id === 'export.bag')?.state;
const payload: Files = Object.fromEntries(
  Object.entries(files).map(([path, bytes]) => [`data/${path}`, bytes]),
);
const UNTAGGED = { 'tagmanifest-sha256.txt': undefined };
const ZEROS = '0'.repeat(64);
/** A bag with changed tag files, given as text. */
const retagged = (texts: Record<string, string>): Files =>
  bagOf(files, Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, toUtf8(text)])));
/** A bag with an edited payload manifest and without a tag manifest. */
const relisted = (edit: (lines: string) => string): Files =>
  bagOf(files, {
    'manifest-sha256.txt': toUtf8(edit(new TextDecoder().decode(manifestOf(payload)))),
    ...UNTAGGED,
  });
/** Lines of a manifest of another algorithm. */
const sha512Rows = (paths: readonly string[]): Uint8Array =>
  toUtf8(paths.map((path) => `${'ab'.repeat(64)}  ${path}\n`).join(''));

const REPORT = 'local-reports/lrep_000000000001.zip';
const PART = 'parts/evidence_000000000001.zip';

describe('an export in a BagIt bag', () => {
  it('is verified as the export under data/, together with the bag', async () => {
    const report = await verify(bagOf(files));
    expect(report.verdict).toBe('verified');
    expect(stateOf(report)).toBe('passed');
    expect(report.coverage).toEqual((await verifySource(memorySource(files))).coverage);
  });

  it('does not report a bag when there is none', async () => {
    expect(stateOf(await verifySource(memorySource(files)))).toBeUndefined();
  });

  it.each<[string, string, Files]>([
    [
      'tag files in another encoding',
      'bag.UNSUPPORTED',
      retagged({ 'bagit.txt': 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n' }),
    ],
    [
      'a path that is listed twice',
      'bag.INVALID',
      relisted((lines) => lines + lines.slice(0, lines.indexOf('\n') + 1)),
    ],
    [
      'a payload manifest that lists a tag file',
      'bag.INVALID',
      relisted((lines) => `${lines}${ZEROS}  bagit.txt\n`),
    ],
    [
      'a Payload-Oxum twice',
      'bag.INVALID',
      bagOf(files, { 'bag-info.txt': toUtf8('Payload-Oxum: 1.1\n'.repeat(2)), ...UNTAGGED }),
    ],
    ...['data/manifest.json', 'tagmanifest-sha512.txt'].map((path): [string, string, Files] => [
      `a tag manifest that lists ${path}`,
      'bag.INVALID',
      retagged({ 'tagmanifest-sha256.txt': `${ZEROS}  ${path}\n` }),
    ]),
    ['a tag manifest that is not one', 'bag.INVALID', retagged({ 'tagmanifest-sha256.txt': 'hello\n' })],
    [
      'a tag file that is not UTF-8',
      'bag.INVALID',
      bagOf(files, { 'bag-info.txt': Uint8Array.of(0xff, 0x0a), ...UNTAGGED }),
    ],
  ])('fails over %s', async (_, code, bag) => {
    const report = await verify(bag);
    expect(codesOf(report)).toContain(code);
    expect([report.verdict, stateOf(report)]).toEqual(['failed', 'failed']);
  });

  it('may have manifests of other algorithms, whose digests are not compared', async () => {
    const report = await verify(
      bagOf(files, {
        'manifest-sha512.txt': sha512Rows(Object.keys(payload)),
        'tagmanifest-sha512.txt': sha512Rows(['bagit.txt', 'manifest-sha512.txt']),
      }),
    );
    expect([report.verdict, stateOf(report), codesOf(report)]).toEqual(['verified', 'passed', []]);
  });

  it('names a changed local report, though its row has the digest that the bag states', async () => {
    const report = await verify(bagOf(files, { [`data/${REPORT}`]: flipBit(files[REPORT]!, 3) }));
    expect([stateOf(report), codesOf(report)]).toEqual(['failed', ['bag.PAYLOAD_MISMATCH']]);
  });

  it('reads parts and reports once, and leaves no file open', async () => {
    const { counts, source } = countOpens(memorySource(bagOf(files)));
    expect((await verifySource(bagSource(source))).verdict).toBe('verified');
    for (const path of [PART, REPORT])
      expect(counts.opened.filter((name) => name === `data/${path}`)).toHaveLength(1);
    expect(counts.closed).toBe(counts.opened.length);
  });

  it.each([
    ['a payload file that only the bag lists', 'data/notes.txt'],
    ['a tag file', 'manifest-sha256.txt'],
  ])('stays open when %s cannot be read', async (_, path) => {
    const bag = memorySource(bagOf({ ...files, 'notes.txt': toUtf8('hi') }));
    const report = await verifySource(bagSource(failReads(bag, path)));
    expect([report.verdict, stateOf(report)]).toEqual(['incomplete', 'not_checked']);
  });

  it('warns of a file outside data/ that no tag manifest lists, but only if there is a tag manifest', async () => {
    const report = await verify(bagOf(files, { 'notes.txt': toUtf8('hi') }));
    expect(codesOf(report)).toEqual(['bag.TAG_UNLISTED']);
    expect(report.verdict).toBe('verified');
    expect(codesOf(await verify(bagOf(files, { 'notes.txt': toUtf8('hi'), ...UNTAGGED })))).toEqual([]);
  });

  it('compares a changed part by the digest that was computed when the part was verified', async () => {
    const report = await verify(bagOf(files, { [`data/${PART}`]: flipBit(files[PART]!, 100) }));
    expect(codesOf(report)).toEqual(['bag.PAYLOAD_MISMATCH']);
    expect(report.findings.find(({ code }) => code === 'bag.PAYLOAD_MISMATCH')?.actual).toBe(
      report.parts.find(({ path }) => path === PART)?.archive?.digest,
    );
  });

  it('never takes a tag file for a part whose path it ends with', async () => {
    const tag = `other${PART}`;
    const bag = bagOf(files, { [tag]: toUtf8('hi') });
    const line = new TextDecoder().decode(manifestOf({ [tag]: files[PART]! }));
    const tagManifest = new TextDecoder().decode(bag['tagmanifest-sha256.txt']);
    const report = await verify({ ...bag, 'tagmanifest-sha256.txt': toUtf8(tagManifest + line) });
    expect(codesOf(report)).toEqual(['bag.TAG_MISMATCH']);
  });

  it('fails over a link in the place of a payload file that only the bag lists', async () => {
    const bag = memorySource(bagOf({ ...files, 'receipts/r.json': toUtf8('{}') }));
    const path = 'data/receipts/r.json';
    const report = await verifySource(bagSource(replaceByLink(bag, path)));
    expect(stateOf(report)).toBe('failed');
    expect(report.findings).toContainEqual(expect.objectContaining({ code: 'export.FILE_IRREGULAR', path }));
  });

  it('stays open when the bag cannot be listed again', async () => {
    const bag = memorySource(bagOf(files));
    let calls = 0;
    const list = () => (calls++ === 0 ? bag : failListing(bag)).files();
    expect((await verifySource(bagSource({ ...bag, files: list }))).verdict).toBe('incomplete');
  });
});
