import { execFileSync } from 'node:child_process';
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { INVENTORY, InventoryLog } from '../../../src/mirror/inventory.ts';
import { folderVolume } from '../../../src/node/volume/folder.ts';
import { cleanUp, DAY, exportId, makeArchive, newFolder, partOf, rot } from '../../node/scrub/make.ts';
import { NOW } from '../../support/evidence.ts';
import { call, callJson, expectResult } from '../make.ts';

afterEach(cleanUp);

const ID = exportId(1);
const at = (nowMs: number) => ({ now: () => nowMs });
const run = (line: string | readonly string[]) => call(line, at(NOW));

/** Makes an archive of mirrors of exports that are not attested, with its inventory. */
async function makeListed(mirrors = 2) {
  const { root, exports } = await makeArchive({ mirrors });
  const log = new InventoryLog(folderVolume(root).log(INVENTORY), 'drillproof/test', () => NOW);
  const list = async (n: number) => {
    const { manifest, manifestDigest } = exports[n - 1]!.packed;
    const [receipt] = await readdir(join(root, exportId(n), 'receipts'));
    await log.add({
      evidenceExportId: manifest.evidenceExportId,
      manifestDigest,
      state: 'held',
      files: 4,
      bytes: 4_000,
      mirroredAtMs: NOW,
      receipt: `receipts/${receipt}`,
    });
    await log.flush();
  };
  for (let n = 1; n <= mirrors; n++) await list(n);
  return { root, exports, inventory: join(root, INVENTORY) };
}

const accept = (root: string, file: string) =>
  run(['archive', 'acknowledge', root, file, '--by', 'Ana', '--reason', 'disk fault']);
const codesOf = async (line: string) =>
  (await callJson(line, at(NOW))).faults.map(({ code }: { code: string }) => code);

describe('a rehearsal of archive verify', () => {
  test('restores the chosen number of mirrors and leaves nothing in the folder for temporary files', async () => {
    const { root } = await makeListed(3);
    const folder = await newFolder();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { rehearsed, faults } = await callJson(`archive verify ${root} --rehearse 2`, at(NOW));
    expect([rehearsed.length, faults, await readdir(folder)]).toEqual([2, [], []]);
    expect((await callJson(`archive verify ${root} --rehearse 100`, at(NOW))).rehearsed).toHaveLength(3);
    await expectResult(run(`archive verify ${root} --rehearse 0`), 2, 'usage.INVALID');
  });

  test('finds a damaged part, which archive verify alone does not read', async () => {
    const { root } = await makeListed();
    await rot(partOf(join(root, ID)));
    await expectResult(run(`archive verify ${root}`), 0);
    expect(await codesOf(`archive verify ${root} --rehearse 2`)).toEqual(['mirror.SOURCE_INCOMPLETE']);
  });
});

/** Packs an archive. */
async function pack(root: string) {
  const to = join(await newFolder(), 'tape');
  return { to, result: await callJson(`archive pack ${root} --to ${to}`, at(NOW)) };
}

describe('an archive in one file for each mirror', () => {
  test('has the same bytes, and every command of the archive reads it', async () => {
    const { root } = await makeListed();
    const { to, result } = await pack(root);
    expect(result).toMatchObject({ kind: 'archive.packed', packed: 2, kept: 0, faults: [] });
    expect((await readdir(to)).toSorted()).toEqual([`${ID}.zip`, `${exportId(2)}.zip`, INVENTORY]);
    await expectResult(run(`archive verify ${to} --rehearse 2`), 0);
    await expectResult(run(`scrub ${to}`), 0);
    await expectResult(run(`scrub ${join(to, `${ID}.zip`)}`), 0);
    const back = join(await newFolder(), 'back');
    await expectResult(run(`mirror --all --from ${to} --to ${back}`), 0);
    const one = join(await newFolder(), 'one');
    await expectResult(run(`mirror --from ${join(to, `${ID}.zip`)} --to ${one}`), 0);
    for (const path of [join(back, ID), one])
      expect(await readFile(join(path, 'SHA256SUMS'))).toEqual(await readFile(join(root, ID, 'SHA256SUMS')));
    execFileSync('unzip', ['-tq', join(to, `${ID}.zip`)]);
  });

  test('keeps files that are there, and writes those of changed mirrors again', async () => {
    const { root } = await makeListed();
    const { to } = await pack(root);
    await rm(join(root, ID, 'SHA256SUMS'));
    expect(await callJson(`archive pack ${root} --to ${to}`, at(NOW))).toMatchObject({ packed: 1, kept: 1 });
  });

  test('is not made of a folder without a mirror, and no restore of none is rehearsed', async () => {
    const root = await newFolder();
    await expectResult(run(`archive pack ${root} --to ${join(root, 'to')}`), 3, 'scrub.NOTHING_FOUND');
    const log = new InventoryLog(folderVolume(root).log(INVENTORY), 'test', () => NOW);
    await log.write({ exports: [] });
    await expectResult(run(`archive verify ${root} --rehearse 1`), 3, 'scrub.NOTHING_FOUND');
  });

  test('is written without a damaged mirror, which is named', async () => {
    const { root } = await makeListed();
    await rot(partOf(join(root, ID)));
    const to = join(await newFolder(), 'tape');
    const result = await run(`archive pack ${root} --to ${to} --json`);
    expect([result.code, JSON.parse(result.stdout).faults]).toEqual([
      1,
      [expect.objectContaining({ mirror: ID, code: 'part.DIGEST_MISMATCH' })],
    ]);
    expect((await readdir(to)).toSorted()).toEqual([`${exportId(2)}.zip`, INVENTORY]);
  });

  test('is written without a mirror that has another manifest than the inventory', async () => {
    const { root } = await makeListed();
    await rm(join(root, ID), { recursive: true });
    await cp(join(root, exportId(2)), join(root, ID), { recursive: true });
    const { faults } = await callJson(`archive pack ${root} --to ${join(await newFolder(), 't')}`, at(NOW));
    expect(faults).toMatchObject([{ mirror: ID, code: 'expect.MANIFEST_MISMATCH' }]);
  });

  test('is not written over the copy of another archive', async () => {
    const { to } = await pack((await makeListed()).root);
    const log = new InventoryLog(folderVolume(to).log(INVENTORY), 'other', () => NOW);
    await log.write({ exports: [] });
    const { root } = await makeListed();
    await expectResult(run(`archive pack ${root} --to ${to}`), 1, 'inventory.DAMAGED');
  });

  test('is found damaged, cut off, missing and unlisted, as an archive of folders is', async () => {
    const { root } = await makeListed(4);
    const { to } = await pack(root);
    const file = (n: number) => join(to, `${exportId(n)}.zip`);
    await rot(file(1));
    await writeFile(file(2), (await readFile(file(2))).subarray(0, 2_000));
    await rename(file(3), join(to, 'evexp_00000000000z.zip'));
    const found = await codesOf(`archive verify ${to}`);
    expect(found).toEqual(
      expect.arrayContaining(['zip.NOT_A_ZIP', 'scrub.MIRROR_MISSING', 'inventory.UNLISTED']),
    );
    const codes = await codesOf(`scrub ${to}`);
    expect(codes).toEqual(
      expect.arrayContaining([
        'expect.MANIFEST_MISMATCH',
        'zip.NOT_A_ZIP',
        'scrub.MIRROR_MISSING',
        'inventory.UNLISTED',
      ]),
    );
  });
});

describe('the inventory of an archive', () => {
  test('archive list and verify show what the archive holds, and its head', async () => {
    const { root, inventory } = await makeListed();
    const lines = (await readFile(inventory, 'utf8')).trimEnd().split('\n');
    const head = digestOf(Buffer.from(lines.at(-1)!));
    expect(await callJson(`archive list ${root}`, at(NOW))).toMatchObject({
      kind: 'archive.listed',
      number: 2,
      head,
      exports: [{ evidenceExportId: ID, state: 'held' }, { evidenceExportId: exportId(2) }],
    });
    await expectResult(run(`archive verify ${root} --expect-head ${digestOf(Buffer.from(lines[0]!))}`), 0);
    await expectResult(run(`archive verify ${root} --expect-head ${ID}`), 2);
    await writeFile(inventory, `${lines[0]}\n`); // the last line is removed
    await expectResult(run(`archive verify ${root} --expect-head ${head}`), 1, 'inventory.HEAD_MISMATCH');
    await expectResult(run(`archive list ${join(root, ID)}`), 3, 'inventory.NONE');
  });

  test('archive list --at shows what the archive held on a day', async () => {
    const { root, exports } = await makeListed(1);
    const later = new InventoryLog(folderVolume(root).log(INVENTORY), 'test', () => NOW + DAY);
    const row = {
      state: 'removed',
      files: 4,
      bytes: 4_000,
      mirroredAtMs: NOW,
      removedAtMs: NOW + DAY,
    } as const;
    const { manifestDigest } = exports[0]!.packed;
    await later.write({ exports: [{ evidenceExportId: ID, manifestDigest, ...row }] });
    for (const [ms, states] of [
      [-1, []],
      [0, ['held']],
      [DAY - 1, ['held']],
      [DAY, ['removed']],
    ] as const) {
      const line = `archive list ${root} --at ${new Date(NOW + ms).toISOString()}`;
      const { exports: rows } = await callJson(line, at(NOW + DAY));
      expect(rows.map(({ state }: { state: string }) => state)).toEqual(states);
    }
  });

  test('archive list shows when a scrub last read each mirror, but not with --at', async () => {
    const { root } = await makeListed();
    const list = async (more = '') => (await callJson(`archive list ${root}${more}`, at(NOW))).exports;
    const listTimes = async (more?: string) =>
      (await list(more)).map(({ readAtMs }: { readAtMs?: number }) => readAtMs);
    expect(await listTimes()).toEqual([undefined, undefined]);
    await expectResult(run(`archive list ${root}`), 0, ' - ');
    await call(`scrub ${join(root, ID)}`, at(NOW + 1000));
    expect(await listTimes()).toEqual([NOW + 1000, undefined]);
    await expectResult(run(`archive list ${root}`), 0, 'LAST READ');
    expect(await listTimes(` --at ${new Date(NOW).toISOString()}`)).toEqual([undefined, undefined]);
  });

  test.each([
    ['changed', (lines: string[]) => [lines[0]!.replace('"files":4', '"files":5'), lines[1]!]],
    ['removed from the front', (lines: string[]) => [lines[1]!]],
    ['exchanged', (lines: string[]) => lines.toReversed()],
    ['repeated', (lines: string[]) => [...lines, lines[1]!]],
  ])('a line that is %s breaks the chain for archive, mirror and scrub', async (_how, edit) => {
    const { root, inventory } = await makeListed();
    const lines = (await readFile(inventory, 'utf8')).trimEnd().split('\n');
    await writeFile(inventory, `${edit(lines).join('\n')}\n`);
    for (const line of [`archive list ${root}`, `archive verify ${root}`, `scrub ${root}`])
      await expectResult(run(line), 1, 'inventory.DAMAGED');
  });

  test.each<[string, string, (root: string) => Promise<unknown>]>([
    ['missing', 'scrub.MIRROR_MISSING', (root) => rm(join(root, ID), { recursive: true })],
    [
      'extra',
      'inventory.UNLISTED',
      (root) => cp(join(root, ID), join(root, exportId(9)), { recursive: true }),
    ],
    [
      'exchanged',
      'expect.MANIFEST_MISMATCH',
      async (root) => {
        await rename(join(root, ID), join(root, 'aside'));
        await rename(join(root, exportId(2)), join(root, ID));
        await rename(join(root, 'aside'), join(root, exportId(2)));
      },
    ],
  ])(
    'a mirror that is %s is found without the source by archive verify and scrub',
    async (_how, code, change) => {
      const { root } = await makeListed();
      await expectResult(run(`scrub ${root}`), 0);
      await change(root);
      expect(await codesOf(`archive verify ${root}`)).toContain(code);
      expect(await codesOf(`scrub ${root} --older-than 30d`)).toContain(code);
      expect((await callJson(`scrub ${root}`, at(NOW))).inventory).toMatchObject({ number: 2 });
    },
  );

  test('a scrub finds that the newest receipt is gone', async () => {
    const { root } = await makeListed(1);
    await rm(join(root, ID, 'receipts'), { recursive: true });
    expect(await codesOf(`scrub ${root}`)).toContain('receipt.MISSING');
  });
});

describe('acknowledged damage', () => {
  test('is known and ends with 0 until something else is seen in the same file', async () => {
    const { root } = await makeListed();
    const [name] = await readdir(join(root, ID, 'receipts'));
    const receipt = join(root, ID, 'receipts', name!);
    await rot(receipt);
    await expectResult(run(`scrub ${root}`), 1, 'receipt.');
    expect((await accept(root, `${ID}/receipts`)).code).toBe(0);
    const known = await callJson(`scrub ${root}`, at(NOW));
    expect(known).toMatchObject({ outcome: 'good', faults: [{ acknowledged: { by: 'Ana' } }] });
    await rot(partOf(join(root, exportId(2))));
    const text = await expectResult(run(`scrub ${root}`), 1, `1 new, ${known.knownFaults} known`);
    expect(text).toContain('accepted by Ana');
    await rot(receipt, 50); // damaged in another way
    expect((await callJson(`scrub ${root} --older-than 30d`, at(NOW))).knownFaults).toBe(0);
  });

  test('is recorded for a mirror that is gone, and only for faults that exist', async () => {
    const { root } = await makeListed();
    await expectResult(accept(root, ID), 2, 'no scrub found damage');
    await expectResult(accept(root, exportId(9)), 2, 'has no mirror');
    await rm(join(root, ID), { recursive: true });
    expect((await accept(root, ID)).code).toBe(0);
    await expectResult(run(`scrub ${root}`), 0, '0 new, 1 known');
    expect(await callJson(`archive list ${root}`, at(NOW))).toMatchObject({
      number: 3,
      acknowledged: [{ mirror: ID, path: '', seen: 'missing', by: 'Ana', reason: 'disk fault' }],
    });
  });
});

/** An archive with a damaged part in each mirror, and a second one without. */
async function makeDamaged() {
  const listed = await makeListed();
  const second = join(await newFolder(), 'second');
  await cp(listed.root, second, { recursive: true });
  for (const n of [1, 2]) await rot(partOf(join(listed.root, exportId(n))));
  return { ...listed, second };
}

describe('scrub --repair-from without an attestation', () => {
  test('takes the digests of --expect-list, and refuses a mirror that it does not name', async () => {
    const { root, second, exports } = await makeDamaged();
    const list = join(await newFolder(), 'list.txt');
    await writeFile(list, `${ID} ${exports[0]!.packed.manifestDigest}\n`);
    const line = `scrub ${root} --repair-from ${second} --expect-list ${list}`;
    const text = await expectResult(run(line), 1, 'scrub.MANIFEST_UNDECIDABLE');
    expect(text.match(/^ *repaired/gm)).toHaveLength(1);
    await writeFile(list, `${exportId(2)} ${exports[0]!.packed.manifestDigest}\n`);
    expect((await run(line)).code).toBe(1); // the digest of another export
  });

  test('takes the digest on which inventory, receipts and checksums agree with --pin inventory', async () => {
    const { root, second } = await makeDamaged();
    const line = `scrub ${root} --repair-from ${second}`;
    await expectResult(run(line), 1, 'scrub.MANIFEST_UNDECIDABLE');
    await rot(join(root, ID, 'manifest.json'));
    await expectResult(run(`${line} --pin inventory`), 0);
    expect(await codesOf(`scrub ${root}`)).toEqual([]);
  });

  test('refuses --pin inventory if checksums differ, or nothing but the inventory is left', async () => {
    const { root, second } = await makeDamaged();
    const sums = join(root, ID, 'SHA256SUMS');
    const text = await readFile(sums, 'utf8');
    await writeFile(sums, text.replace(/^.{64}(?= +manifest)/m, '0'.repeat(64)));
    for (const path of ['SHA256SUMS', 'receipts'])
      await rm(join(root, exportId(2), path), { recursive: true });
    const line = `scrub ${root} --repair-from ${second} --pin inventory`;
    const result = await expectResult(run(line), 1, 'SHA256SUMS differs');
    expect(result).toContain('the inventory alone does not decide');
    expect(result).not.toMatch(/^ *repaired/m);
  });
});

const change = (command: string, root: string, id = ID) =>
  run(['archive', command, root, id, '--by', 'Ana', '--reason', 'case 7']);

describe('archive hold, release and remove', () => {
  test('a held mirror is not removed, and a released one is, with a record', async () => {
    const { root } = await makeListed();
    expect((await change('hold', root)).code).toBe(0);
    await expectResult(change('remove', root), 3, 'inventory.HELD');
    await expectResult(
      run(['archive', 'hold', root, ID, '--by', 'x'.repeat(201), '--reason', 'x']),
      2,
      'usage.INVALID',
    );
    expect(await readdir(root)).toContain(ID);
    expect((await change('release', root)).code).toBe(0);
    expect((await change('remove', root)).code).toBe(0);
    expect(await readdir(root)).not.toContain(ID);
    const { exports } = await callJson(`archive list ${root}`);
    const who = { by: 'Ana', reason: 'case 7', atMs: NOW };
    expect(exports[0]).toMatchObject({ state: 'removed', removedBecause: 'Ana: case 7', released: who });
    expect(exports[1]).toMatchObject({ state: 'held' });
    expect((await run(`scrub ${root}`)).code).toBe(0);
  });

  test('an export that the inventory does not name is refused', async () => {
    const { root } = await makeListed(1);
    for (const command of ['hold', 'release', 'remove'])
      await expectResult(change(command, root, exportId(7)), 2, 'usage.INVALID');
    expect(await readdir(root)).toContain(ID);
  });
});
