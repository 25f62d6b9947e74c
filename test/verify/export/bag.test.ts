import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { bagSource, memorySource, type EvidenceSource } from '../../../src/evidence/index.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { verifyExport, type ExportReport } from '../../../src/verify/index.ts';
import { bagOf, manifestOf, type Files } from '../../support/bag.ts';
import { flipped, makeExport, makeTrust, NOW } from '../../support/evidence.ts';

const made = await makeExport();

const judge = (source: EvidenceSource): Promise<ExportReport> =>
  verifyExport(source, { asOfMs: NOW, trust: makeTrust(made.signer) });
const verify = (bag: Files): Promise<ExportReport> => judge(bagSource(memorySource(bag)));
const codesOf = ({ findings }: ExportReport): string[] =>
  findings.map(({ code }) => code).filter((code) => code.startsWith('bag.'));
const stateOf = ({ checks }: ExportReport) => checks.find(({ id }) => id === 'export.bag')?.state;
const payloadOf = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`data/${path}`, bytes]));
/** A bag with another payload manifest, and a tag manifest that agrees with it. */
function relisted(edit: (lines: string) => string): Files {
  const manifest = toUtf8(edit(new TextDecoder().decode(manifestOf(payloadOf(made.files)))));
  return bagOf(made.files, { 'manifest-sha256.txt': manifest, 'tagmanifest-sha256.txt': undefined });
}

/** Lines of a manifest of another algorithm. */
const sha512Rows = (paths: readonly string[]): Uint8Array =>
  toUtf8(paths.map((path) => `${'ab'.repeat(64)}  ${path}\n`).join(''));

const REPORT = 'local-reports/lrep_000000000001.zip';
const part = (): string => Object.keys(made.files).find((path) => path.startsWith('parts/'))!;

describe('an export in a BagIt bag', () => {
  it('is verified as the export that lies under data/, and the bag with it', async () => {
    const report = await verify(bagOf(made.files));
    expect(report.verdict).toBe('verified');
    expect(stateOf(report)).toBe('passed');
    expect(report.coverage).toEqual((await judge(memorySource(made.files))).coverage);
  });

  it('does not report a bag when there is none', async () => {
    expect(stateOf(await judge(memorySource(made.files)))).toBeUndefined();
  });

  const cases: Record<string, [code: string, bag: () => Files]> = {
    'a declaration that is none': [
      'bag.INVALID',
      () => bagOf(made.files, { 'bagit.txt': toUtf8('hello\n') }),
    ],
    'tag files in another encoding': [
      'bag.UNSUPPORTED',
      () =>
        bagOf(made.files, {
          'bagit.txt': toUtf8('BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n'),
        }),
    ],

    'only a manifest of another algorithm': [
      'bag.UNSUPPORTED',
      () =>
        bagOf(made.files, {
          'manifest-sha256.txt': undefined,
          'manifest-sha512.txt': sha512Rows(Object.keys(payloadOf(made.files))),
        }),
    ],

    'another digest for a document': [
      'bag.PAYLOAD_MISMATCH',
      () =>
        relisted((lines) => lines.replace(/^[0-9a-f]{64}( data\/manifest\.json)$/m, `${'0'.repeat(64)}$1`)),
    ],
    'a path that stands twice': [
      'bag.INVALID',
      () => relisted((lines) => lines + lines.slice(0, lines.indexOf('\n') + 1)),
    ],

    'an absolute path': [
      'bag.INVALID',
      () => relisted((lines) => `${lines}${'0'.repeat(64)}  /etc/passwd\n`),
    ],
    'a payload manifest that lists a tag file': [
      'bag.INVALID',
      () => relisted((lines) => `${lines}${'0'.repeat(64)}  bagit.txt\n`),
    ],

    'a Payload-Oxum twice': [
      'bag.INVALID',
      () =>
        bagOf(made.files, {
          'bag-info.txt': toUtf8('Payload-Oxum: 1.1\nPayload-Oxum: 1.1\n'),
          'tagmanifest-sha256.txt': undefined,
        }),
    ],

    'a tag manifest that lists a payload': [
      'bag.INVALID',
      () =>
        bagOf(made.files, { 'tagmanifest-sha256.txt': toUtf8(`${'0'.repeat(64)}  data/manifest.json\n`) }),
    ],
    'a tag manifest that lists a tag manifest': [
      'bag.INVALID',
      () =>
        bagOf(made.files, {
          'tagmanifest-sha256.txt': toUtf8(`${'0'.repeat(64)}  tagmanifest-sha512.txt\n`),
        }),
    ],
    'a tag manifest that is none': [
      'bag.INVALID',
      () => bagOf(made.files, { 'tagmanifest-sha256.txt': toUtf8('hello\n') }),
    ],
    'a tag file that is not UTF-8': [
      'bag.INVALID',
      () =>
        bagOf(made.files, { 'bag-info.txt': Uint8Array.of(0xff, 0x0a), 'tagmanifest-sha256.txt': undefined }),
    ],
  };
  it.each(Object.entries(cases))('fails over %s', async (_, [code, bag]) => {
    const report = await verify(bag());
    expect(codesOf(report)).toContain(code);
    expect(report.verdict).toBe('failed');
    expect(stateOf(report)).toBe('failed');
  });

  it('may be without bag-info.txt and without a tag manifest', async () => {
    const bare = { 'bag-info.txt': undefined, 'tagmanifest-sha256.txt': undefined };
    const report = await verify(bagOf(made.files, bare));
    expect([report.verdict, stateOf(report), report.findings]).toEqual(['verified', 'passed', []]);
  });

  it('may have manifests of other algorithms, whose digests are not compared', async () => {
    const report = await verify(
      bagOf(made.files, {
        'manifest-sha512.txt': sha512Rows(Object.keys(payloadOf(made.files))),
        'tagmanifest-sha512.txt': sha512Rows(['bagit.txt', 'manifest-sha512.txt']),
      }),
    );
    expect([report.verdict, stateOf(report), codesOf(report)]).toEqual(['verified', 'passed', []]);
  });

  it('names a changed local report, though its row has the digest that the bag states', async () => {
    const report = await verify(bagOf(made.files, { [`data/${REPORT}`]: flipped(made.files[REPORT]!, 3) }));
    expect([stateOf(report), codesOf(report)]).toEqual(['failed', ['bag.PAYLOAD_MISMATCH']]);
  });

  it('reads parts and reports once, and leaves no file open', async () => {
    const bag = memorySource(bagOf(made.files));
    const opened: string[] = [];
    let closed = 0;
    const open: EvidenceSource['open'] = async (path) => {
      const file = await bag.open(path);
      opened.push(path);
      return { ...file, close: () => (closed++, file.close()) };
    };
    expect((await judge(bagSource({ ...bag, open }))).verdict).toBe('verified');
    for (const path of [part(), REPORT])
      expect(opened.filter((one) => one === `data/${path}`)).toHaveLength(1);
    expect(closed).toBe(opened.length);
  });

  it('stays open when a payload file that only the bag lists cannot be read', async () => {
    const bag = memorySource(bagOf({ ...made.files, 'notes.txt': toUtf8('hi') }));
    const unreadable = (path: string) =>
      path === 'data/notes.txt'
        ? Promise.reject(new DrillproofError('io.UNREADABLE', 'the disk fails', { path }))
        : bag.open(path);
    const report = await judge(bagSource({ ...bag, open: unreadable }));
    expect([report.verdict, stateOf(report)]).toEqual(['incomplete', 'not_checked']);
  });

  it('warns of a file outside data/ that no tag manifest lists, but only if there is a tag manifest', async () => {
    const report = await verify(bagOf(made.files, { 'notes.txt': toUtf8('hi') }));
    expect(codesOf(report)).toEqual(['bag.TAG_UNLISTED']);
    expect(report.verdict).toBe('verified');
    const untagged = bagOf(made.files, { 'notes.txt': toUtf8('hi'), 'tagmanifest-sha256.txt': undefined });
    expect(codesOf(await verify(untagged))).toEqual([]);
  });

  it('compares a changed part by the digest that was computed when the part was verified', async () => {
    const path = part();
    const report = await verify(bagOf(made.files, { [`data/${path}`]: flipped(made.files[path]!, 100) }));
    expect(codesOf(report)).toEqual(['bag.PAYLOAD_MISMATCH']);
    expect(report.findings.find(({ code }) => code === 'bag.PAYLOAD_MISMATCH')?.actual).toBe(
      report.parts.find((one) => one.path === path)?.archive?.digest,
    );
  });

  it('never takes a tag file for a part whose path it ends with', async () => {
    const path = part();
    const tag = `other${path}`;
    const files = bagOf(made.files, { [tag]: toUtf8('hi') });
    const digest = new TextDecoder().decode(manifestOf({ [tag]: made.files[path]! }));
    const tagManifest = new TextDecoder().decode(files['tagmanifest-sha256.txt']);
    const report = await verify({ ...files, 'tagmanifest-sha256.txt': toUtf8(tagManifest + digest) });
    expect(codesOf(report)).toEqual(['bag.TAG_MISMATCH']);
  });

  it('fails over a link in the place of a payload file that only the bag lists', async () => {
    const bag = memorySource(bagOf({ ...made.files, 'receipts/r.json': toUtf8('{}') }));
    const path = 'data/receipts/r.json';
    const files = async () =>
      (await bag.files()).map((file) => (file.path === path ? { ...file, regular: false } : file));
    const report = await judge(bagSource({ ...bag, files }));
    expect(stateOf(report)).toBe('failed');
    expect(report.findings).toContainEqual(expect.objectContaining({ code: 'export.FILE_IRREGULAR', path }));
  });

  it('stays open when a tag file cannot be read', async () => {
    const bag = memorySource(bagOf(made.files));
    const unreadable = (path: string) =>
      path === 'manifest-sha256.txt'
        ? Promise.reject(new DrillproofError('io.UNREADABLE', 'the disk fails', { path }))
        : bag.open(path);
    const report = await judge(bagSource({ ...bag, open: unreadable }));
    expect(report.verdict).toBe('incomplete');
    expect(stateOf(report)).toBe('not_checked');
  });

  it('stays open when the bag cannot be listed', async () => {
    const bag = memorySource(bagOf(made.files));
    let calls = 0;
    const files = () =>
      calls++ === 0 ? bag.files() : Promise.reject(new DrillproofError('io.UNREADABLE', 'the disk fails'));
    expect((await judge(bagSource({ ...bag, files }))).verdict).toBe('incomplete');
  });
});
