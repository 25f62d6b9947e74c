import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { once } from '../../src/bytes/async.ts';
import type { EvidenceSource, OpenFile } from '../../src/evidence/source.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { openEvidence } from '../../src/node/open-evidence.ts';
import { openFile } from '../../src/node/evidence/file-access.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import {
  errorsOf,
  makeBundleInput,
  makeExport,
  makeObject,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  pack,
  stateOf,
  type MadeExport,
} from '../support/evidence.ts';
import { makeFolder, makeFolderIn } from '../support/folder.ts';
import { waitForEnd } from './killing.ts';

const PART = 'parts/evidence_000000000001.zip';
const root = await makeFolder();
const signer = makeSigner();

/** Larger than the parts that are read in one step, during which nothing can change. */
const LARGE = randomBytes(1.5 * 2 ** 20);
const large = makeObject('files/large.bin', '', { open: () => once(LARGE) });
const objects = [...makeBundleInput(1).objects, large];

/** Two verified archives of one size, of different bundles. */
let twins: readonly [Uint8Array, Uint8Array];
let sample: MadeExport;
do {
  sample = await makeExport({ signer, bundle: { objects } });
  twins = [sample.files[PART]!, (await makePart(2, signer, { objects })).bytes];
} while (twins[0].length !== twins[1].length); // the DER of a signature has several lengths, some of them rare

const options = { asOfMs: NOW, trust: makeTrust(signer) };

/** Seconds since 1970. */
const WRITTEN = 1_600_000_000;
async function folderOf(files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  const path = await makeFolderIn(root, files);
  for (const name of Object.keys(files)) utimesSync(join(path, name), WRITTEN, WRITTEN);
  return path;
}

/** Changes of a file, with a valid archive of the same signer or with the same bytes. */
const ACTS: Readonly<Record<string, (path: string) => void>> = {
  'overwritten in place with another valid archive': (path) => writeFileSync(path, twins[1]),
  'replaced by another valid archive': (path) => {
    writeFileSync(`${path}.new`, twins[1]);
    renameSync(`${path}.new`, path);
  },
  'replaced by a link to its own bytes': (path) => {
    renameSync(path, `${path}.old`);
    symlinkSync(`${path}.old`, path);
  },
  'replaced by a FIFO': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  'replaced by a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  removed: (path) => rmSync(path),
  'made longer': (path) => appendFileSync(path, 'more'),
  'made shorter': (path) => truncateSync(path, 10),
  emptied: (path) => truncateSync(path, 0),
  'overwritten, with its time of writing set back': (path) => {
    writeFileSync(path, twins[1]);
    utimesSync(path, WRITTEN, WRITTEN);
  },
};
/** Changes of the name. A reader that has opened the file still reads its old content, and may not detect them. */
const ON_THE_NAME = /^(?:replaced|removed)/;

/** Wraps a source so that it calls `act` before a file is opened, or before its nth read. */
function actBefore(
  source: EvidenceSource,
  path: string,
  at: 'open' | number,
  act: () => void,
): EvidenceSource {
  return {
    ...source,
    async open(name) {
      if (name !== path) return source.open(name);
      if (at === 'open') act();
      const file = await source.open(name);
      return at === 'open' ? file : actBeforeRead(file, at, act);
    },
  };
}

function actBeforeRead(file: OpenFile, at: number, act: () => void): OpenFile {
  let reads = 0;
  const step = (): void => {
    if (reads++ === at) act();
  };
  return {
    ...file,
    read(offset, length) {
      step();
      return file.read(offset, length);
    },
    readInto(target, offset) {
      step();
      file.readInto?.(target, offset);
    },
  };
}

describe('requirement 20: a file that changes while an export is verified', () => {
  test.each(Object.keys(ACTS))('before it is opened is never verified: %s', async (name) => {
    for (const path of [PART, 'manifest.json', 'export.json', 'export-attestation.json']) {
      const at = await folderOf(sample.files);
      const source = actBefore(directorySource(at), path, 'open', () => ACTS[name]!(join(at, path)));
      const report = await verifyExport(source, options);
      expect([path, report.verdict]).toEqual([path, expect.stringMatching(/^(?:failed|incomplete)$/)]);
      expect([report, ...report.parts, ...report.localReports].flatMap(errorsOf)).not.toEqual([]);
    }
  });

  test.each(Object.keys(ACTS))(
    'between its digest and its use is not verified as another: %s',
    async (name) => {
      let reads = 0;
      const file = await openFile(join(await folderOf({ part: twins[0] }), 'part'));
      const counting = { ...file, read: (at: number, length: number) => (reads++, file.read(at, length)) };
      expect((await verifyPart(counting, options)).verdict).toBe('verified');
      expect(reads).toBeGreaterThan(8);
      const swappedAt = async (n: number): Promise<void> => {
        const at = await folderOf(sample.files);
        const source = actBefore(directorySource(at), PART, n, () => ACTS[name]!(join(at, PART)));
        const report = await verifyExport(source, options);
        const allowed = ON_THE_NAME.test(name) ? /^(?:verified|incomplete)$/ : /^(?:failed|incomplete)$/;
        expect([n, report.verdict]).toEqual([n, expect.stringMatching(allowed)]);
        const part = report.parts[0]!;
        if (part.verdict !== 'incomplete') return;
        // The bytes that were read no longer describe the file, so the report has no digest of it.
        expect([errorsOf(part), part.archive]).toEqual([['io.CHANGED'], undefined]);
        expect(stateOf(part, 'part.bytes')).toBe('not_checked');
      };
      await Promise.all(Array.from({ length: reads + 1 }, (_, n) => swappedAt(n)));
    },
  );

  test('is verified if only other files change and it is read', async () => {
    const at = await folderOf(sample.files);
    const act = (): void => {
      writeFileSync(join(at, 'notes.txt'), 'x');
      linkSync(join(at, 'manifest.json'), join(at, 'copy.json'));
      readFileSync(join(at, PART));
    };
    const report = await verifyExport(actBefore(directorySource(at), PART, 3, act), options);
    expect(report.verdict).toBe('verified');
  });

  test('is detected in an export of one file too', async () => {
    const zip = await pack(Object.entries(sample.files));
    const path = join(await folderOf({ 'export.zip': zip }), 'export.zip');
    const evidence = await openEvidence(path);
    if (evidence.kind !== 'export') throw new Error('no export');
    utimesSync(path, WRITTEN + 1, WRITTEN + 1);
    const report = await verifyExport(evidence.source, options);
    expect([report.verdict, [...new Set(report.parts.flatMap(errorsOf))]]).toEqual([
      'incomplete',
      ['io.CHANGED'],
    ]);
    await evidence.close();
  });
});

test('requirement 20: a part that another process overwrites is verified with one of its contents, or not at all', async () => {
  const at = await folderOf({ a: twins[0], b: twins[1], target: twins[0] });
  const ids = new Map(
    [twins[0], twins[1]].map((bytes, i) => [digestOf(bytes), `evidence_00000000000${i + 1}`]),
  );
  const script = new URL('writing-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, join(at, 'a'), join(at, 'b'), join(at, 'target')]);
  const exit = waitForEnd(child);
  await new Promise((resolve) => void child.stdout.once('data', resolve));
  const verdicts = new Set<string>();
  for (let n = 0; n < 300; n++) {
    const file = await openFile(join(at, 'target'));
    const report = await verifyPart(file, options);
    await file.close();
    verdicts.add(report.verdict);
    if (report.verdict === 'verified') expect(ids.get(report.archive!.digest)).toBe(report.evidenceBundleId);
    await turn();
  }
  child.kill();
  await exit;
  expect([...verdicts].toSorted()).not.toEqual(['verified']);
});
