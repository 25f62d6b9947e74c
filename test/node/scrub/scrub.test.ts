import { statSync, utimesSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { defined } from '../../../src/bytes/arguments.ts';
import { verifyDirectory } from '../../../src/node/verify-directory.ts';
import { makeSigner, makeTrust, NOW } from '../../support/evidence.ts';
import {
  cleanUp,
  DAY,
  exportId,
  listFaults,
  makeArchive,
  makeExportWithId,
  makeOneMirror,
  mirrorInto,
  newFolder,
  partOf,
  rot,
  scrubArchive,
} from './make.ts';

afterEach(cleanUp);

const PART = 'parts/evidence_000000000001.zip';

describe('a scrub of an intact archive', () => {
  test('reports every mirror as good, plain or a bag', async () => {
    const { root } = await makeArchive({ mirrors: 3, bags: true });
    const results = await scrubArchive(root);
    expect(results).toMatchObject(
      [1, 2, 3].map((n) => ({ name: exportId(n), outcome: 'good', faults: [], read: 9, files: 9 })),
    );
  });

  test('reports good at full depth with trust and threads', async () => {
    const { sample, faults } = await makeOneMirror();
    const trust = makeTrust(sample.signer);
    expect(await faults({ depth: 'full', trust, jobs: 3 })).toEqual([]);
  });

  test('of one of its mirrors uses the journal of the archive', async () => {
    const { root } = await makeArchive({ mirrors: 2 });
    const [alone] = await scrubArchive(join(root, exportId(1)));
    expect(alone).toMatchObject({ name: exportId(1), outcome: 'good' });
    const [first, second] = await scrubArchive(root, { olderThanMs: DAY });
    expect([first!.name, first!.read, second!.name, second!.read]).toEqual([exportId(2), 9, exportId(1), 0]);
  });

  test('writes only the journal, which does not affect verification', async () => {
    const { root } = await makeArchive({ mirrors: 2, bags: true });
    const before = await readdir(root, { recursive: true });
    await scrubArchive(root);
    const after = (await readdir(root, { recursive: true })).filter((path) => !before.includes(path));
    expect(after.filter((path) => !path.startsWith('.drillproof'))).toEqual([]);
    const report = await verifyDirectory(join(root, exportId(1)), { asOfMs: NOW, jobs: 1 });
    expect(report.coverage.uncovered).toEqual([]);
  });
});

describe('a mirror that a journal names and that is gone', () => {
  const missing = ['missing  scrub.MIRROR_MISSING'];

  test('is an error by name in every run, also without time to read, until its journal is removed', async () => {
    const { root } = await makeArchive({ mirrors: 3, bags: true });
    await scrubArchive(root);
    await rm(join(root, exportId(2)), { recursive: true });
    for (const how of [{}, { olderThanMs: DAY }, { untilMs: 0 }]) {
      const results = await scrubArchive(root, how);
      expect(results.find(({ name }) => name === exportId(2))).toMatchObject({ outcome: 'damaged' });
      expect([results.length, listFaults(results)]).toEqual([3, missing]);
    }
    await rm(join(root, '.drillproof'), { recursive: true });
    expect(listFaults(await scrubArchive(root))).toEqual([]);
  });

  test('is an error without a word about a journal that never existed', async () => {
    const { root } = await makeArchive({ mirrors: 1 });
    await mkdir(join(root, exportId(2)));
    const { faults } = (await scrubArchive(root)).find(({ name }) => name === exportId(2))!;
    expect(faults).toMatchObject([{ code: 'scrub.MIRROR_MISSING' }]);
    expect(faults[0]!.message).not.toMatch(/journal/);
  });

  test('is an error if no mirror is left, and if only an empty folder is left', async () => {
    const { root } = await makeArchive({ mirrors: 1 });
    await scrubArchive(root);
    await rm(join(root, exportId(1)), { recursive: true });
    expect(listFaults(await scrubArchive(root))).toEqual(missing);
    await mkdir(join(root, exportId(1)));
    expect(listFaults(await scrubArchive(root))).toEqual(missing);
  });

  test('is found by journals in another folder', async () => {
    const { root } = await makeArchive({ mirrors: 2 });
    const journal = await newFolder();
    await scrubArchive(root, { journal });
    await rm(join(root, exportId(1)), { recursive: true });
    expect(listFaults(await scrubArchive(root))).toEqual([]);
    expect(listFaults(await scrubArchive(root, { journal }))).toEqual(missing);
  });
});

describe('the name of a mirror', () => {
  const mismatch = 'damaged manifest.json scrub.NAME_MISMATCH';

  test('that is exchanged with that of another mirror is an error of both', async () => {
    const { root } = await makeArchive({ mirrors: 2, bags: true });
    await rename(join(root, exportId(1)), join(root, 'swap'));
    await rename(join(root, exportId(2)), join(root, exportId(1)));
    await rename(join(root, 'swap'), join(root, exportId(2)));
    const results = await scrubArchive(root);
    expect(results.map(({ outcome }) => outcome)).toEqual(['damaged', 'damaged']);
    expect(listFaults(results)).toEqual([mismatch, mismatch]);
  });

  test.each([exportId(7), 'copy'])('of a copy in an archive, %s, is an error', async (name) => {
    const { root } = await makeArchive({ mirrors: 1 });
    await cp(join(root, exportId(1)), join(root, name), { recursive: true });
    expect(listFaults(await scrubArchive(root))).toEqual([mismatch]);
  });

  test('of a single mirror is free unless it is the id of an export', async () => {
    const { root } = await makeArchive({ mirrors: 1 });
    await cp(join(root, exportId(1)), join(root, 'mirror'), { recursive: true });
    expect(listFaults(await scrubArchive(join(root, 'mirror')))).toEqual([]);
    await rename(join(root, 'mirror'), join(root, exportId(7)));
    expect(listFaults(await scrubArchive(join(root, exportId(7))))).toEqual([mismatch]);
  });
});

describe('a damaged file', () => {
  test('is detected although its size and time are unchanged', async () => {
    const { folder, faults } = await makeOneMirror();
    const file = partOf(folder);
    utimesSync(file, 1_000, 1_000);
    expect(await faults()).toEqual([]);
    const before = statSync(file);
    await rot(file);
    utimesSync(file, 1_000, 1_000);
    const { mtimeMs, ino, size } = statSync(file);
    expect([mtimeMs, ino, size]).toEqual([before.mtimeMs, before.ino, before.size]);
    // A file that was read recently is skipped. After 30 days it is read again.
    const later = (ms: number) => faults({ olderThanMs: 30 * DAY, now: () => NOW + ms });
    expect(await later(DAY)).toEqual([]);
    expect(await later(30 * DAY)).toEqual([`damaged ${PART} part.DIGEST_MISMATCH`]);
  });

  test('is reported in every run until it is right again', async () => {
    const { folder, faults } = await makeOneMirror();
    await rot(partOf(folder));
    const fault = `damaged ${PART} part.DIGEST_MISMATCH`;
    for (const _ of [1, 2]) expect(await faults({ olderThanMs: DAY })).toEqual([fault]);
    await rot(partOf(folder));
    expect(await faults({ olderThanMs: DAY })).toEqual([]);
  });

  test('is detected in any byte of the documents and receipts', { timeout: 60_000 }, async () => {
    const { folder, scrub } = await makeOneMirror({ parts: 1 });
    const [receipt] = await readdir(join(folder, 'receipts'));
    const documents = ['manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS'];
    for (const path of [...documents, `receipts/${receipt}`]) {
      const { size } = statSync(join(folder, path));
      for (let offset = 0; offset < size; offset += 97) {
        await rot(join(folder, path), offset, offset % 7);
        expect([path, offset, (await scrub()).outcome]).toEqual([path, offset, 'damaged']);
        await rot(join(folder, path), offset, offset % 7);
      }
    }
  });

  test('is detected if it is a tag file of a bag', async () => {
    const { root } = await makeArchive({ mirrors: 2, bags: true });
    const file = join(root, exportId(2), 'bag-info.txt');
    const scrub = () => scrubArchive(root, { olderThanMs: DAY });
    await rot(file, 3);
    for (const _ of [1, 2])
      expect(listFaults(await scrub())).toContain('damaged bag-info.txt bag.TAG_MISMATCH');
    await rot(file, 3);
    expect(listFaults(await scrub())).toEqual([]);
    expect((await scrub()).map(({ read }) => read)).toEqual([0, 0]);
  });

  test('with matching digests and an untrusted signature is detected at full depth only', async () => {
    const { root } = await makeArchive({ mirrors: 2 });
    const [first] = await scrubArchive(root, { depth: 'full', trust: makeTrust(makeSigner()) });
    expect(first!.outcome).toBe('damaged');
    expect(listFaults([first!]).some((line) => line.includes(`${PART} trust.`))).toBe(true);
  });
});

describe('a scrub', () => {
  test.each(['export.json', 'export-attestation.json'])(
    'reports only the document as missing without %s',
    async (path) => {
      const { folder, scrub } = await makeOneMirror();
      await rm(join(folder, path));
      const result = await scrub();
      expect(result.outcome).toBe('damaged');
      expect(new Set(result.faults.map((fault) => `${fault.found} ${fault.path}`))).toEqual(
        new Set([`missing ${path}`]),
      );
    },
  );

  test('reports a missing part', async () => {
    const { folder, faults } = await makeOneMirror();
    expect(await faults()).toEqual([]);
    await rm(partOf(folder));
    expect(await faults({ olderThanMs: DAY })).toEqual([`missing ${PART} part.MISSING`]);
  });

  test('does not report a mirror with an unreadable part as good', async () => {
    const { folder, scrub } = await makeOneMirror();
    await rm(partOf(folder));
    await mkdir(join(folder, PART));
    expect((await scrub()).outcome).not.toBe('good');
  });

  test('reports extra files, and leaves them in place', async () => {
    const { folder, scrub, faults } = await makeOneMirror();
    await writeFile(join(folder, 'parts/evidence_00000000000x.zip'), 'x');
    await writeFile(join(folder, 'note.txt'), 'x');
    expect(await faults()).toEqual([
      'extra note.txt export.FILE_UNCOVERED',
      'extra parts/evidence_00000000000x.zip part.EXTRA',
    ]);
    expect(await readFile(join(folder, 'note.txt'), 'utf8')).toBe('x');
    await rm(join(folder, 'note.txt'));
    await rm(join(folder, 'parts/evidence_00000000000x.zip'));
    expect(await scrub({ olderThanMs: DAY })).toMatchObject({ outcome: 'good' });
    expect(await scrub({ olderThanMs: DAY })).toMatchObject({ read: 0 });
  });

  test('reports an unfinished mirror', async () => {
    const { folder, faults } = await makeOneMirror();
    for (const path of ['manifest.json', 'SHA256SUMS']) await rm(join(folder, path));
    await mkdir(join(folder, '.drillproof-mirror'));
    expect(await faults()).toEqual(['unreadable manifest.json scrub.MIRROR_UNFINISHED']);
  });

  test('reports a missing manifest of a complete mirror', async () => {
    const { folder, faults } = await makeOneMirror();
    await rm(join(folder, 'manifest.json'));
    expect(await faults()).toContain('missing manifest.json export.MANIFEST_MISSING');
  });
});

describe('a journal', () => {
  test('is used only with the same version, depth and trust', async () => {
    const { sample, scrub } = await makeOneMirror();
    const signed = { depth: 'full', trust: makeTrust(sample.signer) } as const;
    for (const [change, read] of [
      [{}, 9],
      [{}, 0],
      [{ tool: 'drillproof/next' }, 9],
      [{ depth: 'full' }, 9],
      [signed, 9],
      [signed, 0],
    ] as const)
      expect(await scrub({ olderThanMs: DAY, ...change })).toMatchObject({ read });
  });

  test('is used only for the same file', async () => {
    const { folder, scrub } = await makeOneMirror();
    await scrub();
    const file = partOf(folder);
    await cp(file, `${file}.new`, { preserveTimestamps: true });
    await rename(`${file}.new`, file);
    expect(await scrub({ olderThanMs: DAY })).toMatchObject({ outcome: 'good', recent: 0, read: 9 });
  });

  test('can be in another folder, and then nothing is written to the archive', async () => {
    const { root, scrub } = await makeOneMirror();
    const before = await readdir(root, { recursive: true });
    const journal = await newFolder();
    await scrub({ journal });
    expect(await readdir(root, { recursive: true })).toEqual(before);
    expect(await readdir(journal)).toEqual(['archive.jsonl']);
    expect((await scrub({ journal, olderThanMs: DAY })).read).toBe(0);
  });

  test('is rewritten if it has many more lines than the archive has mirrors', async () => {
    const { root, scrub } = await makeOneMirror();
    const file = join(root, '.drillproof/scrub/archive.jsonl');
    await scrub();
    const once = await readFile(file, 'utf8');
    await writeFile(file, once.repeat(500));
    await scrub({ olderThanMs: DAY });
    expect((await readFile(file, 'utf8')).length).toBe(once.length);
  });

  test('ends the run if it cannot be written', async () => {
    const { root, scrub } = await makeOneMirror();
    const journal = join(root, 'file');
    await writeFile(journal, '');
    await expect(scrub({ journal })).rejects.toMatchObject({ code: expect.stringMatching(/^io\./) });
  });
});

/** Scrubs the nth time, by a clock that advances by a second whenever it is read, until the limit. */
async function scrubSlice(root: string, n: number, limitMs: number, olderThanMs?: number) {
  const fromMs = NOW + n * 1_000_000;
  let nowMs = fromMs;
  const read: string[] = [];
  const results = await scrubArchive(root, {
    now: () => (nowMs += 1_000),
    untilMs: fromMs + limitMs,
    onProgress: (event) => void (event.type === 'read' && read.push(`${event.name}/${event.path}`)),
    ...defined({ olderThanMs }),
  });
  return { read, remaining: results.reduce((sum, { unread }) => sum + unread, 0) };
}

test('scrubs with a time limit read all files over time, oldest first, and report what remains', async () => {
  const { root } = await makeArchive({ mirrors: 3, parts: 4 });
  const seen: string[] = [];
  const remaining: number[] = [];
  for (let n = 0; n < 40 && remaining.at(-1) !== 0; n++) {
    const slice = await scrubSlice(root, n, 10_000, 400 * DAY);
    seen.push(...slice.read);
    remaining.push(slice.remaining);
  }
  expect(remaining.length).toBeGreaterThan(2);
  expect(remaining).toEqual(remaining.toSorted((a, b) => b - a));
  expect(remaining.at(-1)).toBe(0);
  expect([seen.length, new Set(seen).size]).toEqual([15, 15]);
});

/** Scrubs an archive of small mirrors each day, and returns the names of the mirrors that were read. */
async function scrubDaily(root: string, day: number, withinMs: number): Promise<string[]> {
  const read = new Set<string>();
  const onProgress = (event: { type: string; name: string }) =>
    void (event.type === 'read' && read.add(event.name));
  await scrubArchive(root, { now: () => NOW + day * DAY, withinMs, onProgress });
  return [...read];
}

test('scrubs within a time read an equal share each day, and everything in time, while the archive grows', async () => {
  const { root } = await makeArchive({ mirrors: 8, parts: 1 });
  const last = new Map<string, number>();
  let longest = 0;
  const shares: number[] = [];
  for (let day = 0; day < 40; day++) {
    if (day >= 10 && day < 18) await mirrorInto(join(root, exportId(day)), await makeExportWithId(day, 1));
    const read = await scrubDaily(root, day, 8 * DAY);
    for (const name of read) {
      longest = Math.max(longest, day - (last.get(name) ?? day));
      last.set(name, day);
    }
    shares.push(read.length);
  }
  expect(last.size).toBe(16);
  expect(longest).toBeLessThanOrEqual(8);
  expect(Math.max(...shares.slice(0, 8))).toBeLessThanOrEqual(2); // their sizes differ a little
  expect(Math.max(...shares)).toBeLessThanOrEqual(3);
  expect(Math.min(...shares)).toBeGreaterThan(0);
});

test('a scrub within a time reads what two missed days left, and never more than everything', async () => {
  const { root } = await makeArchive({ mirrors: 8, parts: 1 });
  const counts: number[] = [];
  for (const day of [0, 3, 3, 50, 50]) counts.push((await scrubDaily(root, day, 8 * DAY)).length);
  for (const [at, least] of [1, 3, 1, 8, 1].entries()) expect([least, least + 1]).toContain(counts[at]); // their sizes differ a little
});

test('scrubs with a time limit without an age start with the file that was read the longest time ago', async () => {
  const { root } = await makeArchive({ mirrors: 2, parts: 4 });
  const seen: string[] = [];
  for (let n = 0; n < 12 && new Set(seen).size < 10; n++)
    seen.push(...(await scrubSlice(root, n, 1_000)).read);
  expect(new Set(seen.slice(0, 10)).size).toBe(10);
});

test('scrubs with a time limit keep what was read when they are aborted', async () => {
  const { scrub } = await makeOneMirror({ parts: 6 });
  const stop = new AbortController();
  let reads = 0;
  const how = {
    onProgress: (event: { type: string }) => void (event.type === 'read' && ++reads === 3 && stop.abort()),
  };
  await expect(scrub({ ...how, signal: stop.signal })).rejects.toThrow();
  expect(await scrub({ olderThanMs: DAY })).toMatchObject({ recent: 3, outcome: 'good' });
});
