import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { bagSource } from '../../../src/evidence/subtrees.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import { bagOf, manifestOf } from '../../support/bag.ts';
import { flipBit } from '../../support/evidence.ts';
import { countOpens, failListing, failReads, replaceByLink } from '../sources.ts';
import { PART, REPORT, sample, verifySource, type Files } from './setup.ts';

const { files } = sample;
const verify = (bag: Files): Promise<ExportReport> => verifySource(bagSource(memorySource(bag)));
const codesOf = ({ findings }: ExportReport): string[] =>
  findings.map(({ code }) => code).filter((code) => code.startsWith('bag.'));
const stateOf = ({ checks }: ExportReport) => checks.find(({ id }) => id === 'export.bag')?.state;
const payload: Files = Object.fromEntries(
  Object.entries(files).map(([path, bytes]) => [`data/${path}`, bytes]),
);
const TAGS = 'tagmanifest-sha256.txt';
const UNTAGGED = { [TAGS]: undefined };
const UTF_16 = 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n';
const ZEROS = '0'.repeat(64);
/** A bag with changed tag files, given as text. */
const retagged = (texts: Record<string, string>): Files =>
  bagOf(files, Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, toUtf8(text)])));
/** A bag with another `bag-info.txt` and without a tag manifest. */
const withInfo = (text: Uint8Array): Files => bagOf(files, { 'bag-info.txt': text, ...UNTAGGED });
/** A bag with an edited payload manifest and without a tag manifest. */
const relisted = (edit: (lines: string) => string): Files =>
  bagOf(files, {
    'manifest-sha256.txt': toUtf8(edit(new TextDecoder().decode(manifestOf(payload)))),
    ...UNTAGGED,
  });
/** Lines of a manifest of another algorithm. */
const sha512Rows = (paths: readonly string[]): Uint8Array =>
  toUtf8(paths.map((path) => `${'ab'.repeat(64)}  ${path}\n`).join(''));

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

  it.each<[string, Files, code?: string]>([
    ['tag files in another encoding', retagged({ 'bagit.txt': UTF_16 }), 'bag.UNSUPPORTED'],
    ['a path that is listed twice', relisted((lines) => lines + lines.slice(0, lines.indexOf('\n') + 1))],
    ['a payload manifest that lists a tag file', relisted((lines) => `${lines}${ZEROS}  bagit.txt\n`)],
    ['a Payload-Oxum twice', withInfo(toUtf8('Payload-Oxum: 1.1\n'.repeat(2)))],
    ['a tag manifest that lists the payload', retagged({ [TAGS]: `${ZEROS}  data/manifest.json\n` })],
    ['a tag manifest that lists another', retagged({ [TAGS]: `${ZEROS}  tagmanifest-sha512.txt\n` })],
    ['a tag manifest that is not one', retagged({ [TAGS]: 'hello\n' })],
    ['a tag file that is not UTF-8', withInfo(Uint8Array.of(0xff, 0x0a))],
  ])('fails over %s', async (_, bag, code = 'bag.INVALID') => {
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

  const RECEIPT = 'receipts/20260101T000000.000Z-000000000000.json';
  it.each([
    ['a payload file that only the bag lists', `data/${RECEIPT}`],
    ['a tag file', 'manifest-sha256.txt'],
  ])('stays open when %s cannot be read', async (_, path) => {
    const bag = memorySource(bagOf({ ...files, [RECEIPT]: toUtf8('{}') }));
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
    const tagManifest = new TextDecoder().decode(bag[TAGS]);
    const report = await verify({ ...bag, [TAGS]: toUtf8(tagManifest + line) });
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
