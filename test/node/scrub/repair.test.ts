import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DrillproofError } from '../../../src/errors.ts';
import { parseReceipt } from '../../../src/evidence/export/receipt.ts';
import { directorySource, openScrubArchive } from '../../../src/node/index.ts';
import { replicaClient, type MirrorClient } from '../../../src/mirror/index.ts';
import { repairMirror, scrubMirror, type MirrorScrub, type RepairOptions } from '../../../src/scrub/index.ts';
import { makeTrust, makeSigner, NOW, PROJECT } from '../../support/evidence.ts';
import {
  cleanUp,
  exportId,
  madeExport,
  makeArchive,
  mirrorInto,
  newFolder,
  partOf,
  rot,
  scrubbed,
  told,
} from './make.ts';
import { isDeep } from '../../support/deep.ts';

afterEach(cleanUp);

const PART = 'parts/evidence_000000000001.zip';
const [ONE, TWO] = [exportId(1), exportId(2)];

/** What says which manifest is right, unless a test says otherwise: the digest of the export made last. */
let right: Partial<RepairOptions> = {};

/** Scrubs one mirror and repairs it from another folder, or from any client. */
async function repaired(
  folder: string,
  from: string | MirrorClient,
  options: Partial<RepairOptions> = right,
  journal?: string,
): Promise<MirrorScrub> {
  const archive = await openScrubArchive(folder, journal === undefined ? {} : { journal });
  const place = archive.open(archive.mirrors[0]!);
  const { projectId, ...scrub } = options;
  const how = { tool: 'drillproof/test', now: () => NOW + 1_000, ...scrub };
  const client = typeof from === 'string' ? replicaClient(directorySource(from), `file://${from}`) : from;
  const repair = { ...how, ...(projectId !== undefined && { projectId }) };
  return repairMirror(place, await scrubMirror(place, how), () => Promise.resolve(client), repair);
}

const repairsOf = ({ faults }: MirrorScrub): string[] =>
  faults.map(({ path, repair }) => `${path} ${typeof repair === 'object' ? repair.code : repair}`).toSorted();

/** A mirror and a second one of the same export, with the same bytes. */
async function twoMirrors({ bag = false } = {}) {
  const made = await madeExport(1);
  const [first, second] = [join(await newFolder(), ONE), join(await newFolder(), ONE)];
  await mirrorInto(first, made, { bag });
  await mirrorInto(second, made);
  right = { expectManifest: made.packed.manifestDigest };
  return { first, second, made };
}

async function bytesBelow(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, (await readFile(file)).toString('hex')] as const)),
  );
}

describe('a repair from a second mirror', () => {
  test('restores a damaged and a missing part, and writes a receipt', async () => {
    const { first, second } = await twoMirrors();
    await rot(partOf(first, 0));
    await rm(partOf(first, 1));
    const result = await repaired(first, second);
    expect(result.outcome).toBe('good');
    expect(repairsOf(result)).toEqual([`${PART} repaired`, 'parts/evidence_000000000002.zip repaired']);
    expect(await readFile(partOf(first))).toEqual(await readFile(partOf(second)));
    expect(told(await scrubbed(first))).toEqual([]);
    const receipts = (await readdir(join(first, 'receipts'))).toSorted();
    const last = parseReceipt(await readFile(join(first, 'receipts', receipts.at(-1)!)));
    expect([receipts.length, last.source, last.outcome, last.projectId]).toEqual([
      2,
      `file://${second}`,
      'complete',
      PROJECT,
    ]);
  });

  test('repairs a bag, and then its tag files', async () => {
    const { first, second } = await twoMirrors({ bag: true });
    await rot(partOf(join(first, 'data')));
    expect((await repaired(first, second)).outcome).toBe('good');
    expect(told(await scrubbed(first))).toEqual([]);
  });

  test('reads the second one and never writes to it', async () => {
    const { first, second } = await twoMirrors();
    await rot(partOf(first));
    const before = await bytesBelow(second);
    await repaired(first, second);
    expect(await bytesBelow(second)).toEqual(before);
  });

  test('touches nothing where nothing is wrong', async () => {
    const { first, second } = await twoMirrors();
    const before = await bytesBelow(first);
    expect((await repaired(first, second)).faults).toEqual([]);
    expect(await bytesBelow(first)).toEqual(before);
  });

  test('reports each file that is damaged in both mirrors, and keeps both copies', async () => {
    const { first, second } = await twoMirrors();
    await rot(partOf(first, 0));
    await rot(partOf(second, 0), 200);
    await rot(partOf(first, 1));
    await rot(partOf(first, 2));
    await rm(partOf(second, 2));
    const before = await readFile(partOf(first, 0));
    const result = await repaired(first, second);
    expect(result.outcome).toBe('damaged');
    expect(repairsOf(result)).toEqual([
      `${PART} part.DIGEST_MISMATCH`,
      'parts/evidence_000000000002.zip repaired',
      'parts/evidence_000000000003.zip part.MISSING',
    ]);
    expect(await readFile(partOf(first, 0))).toEqual(before);
  });

  test('takes nothing from a mirror of another export', async () => {
    const { first } = await twoMirrors();
    const other = join(await newFolder(), TWO);
    await mirrorInto(other, await madeExport(2));
    await rot(partOf(first));
    const before = await bytesBelow(first);
    const result = await repaired(first, other);
    expect([result.outcome, repairsOf(result)]).toEqual(['damaged', [`${PART} scrub.REPLICA_FOREIGN`]]);
    expect(await bytesBelow(first)).toEqual(before);
  });

  test('takes nothing from a mirror of the same id under another manifest', async () => {
    const { first } = await twoMirrors();
    const other = join(await newFolder(), ONE);
    await mirrorInto(other, await madeExport(1, 4));
    for (const path of ['parts', 'manifest.json', 'export.json'])
      await rot(path === 'parts' ? partOf(first) : join(first, path), 60, 0);
    const before = await bytesBelow(first);
    const result = await repaired(first, other);
    expect(result.outcome).toBe('damaged');
    expect(new Set(repairsOf(result).map((line) => line.split(' ')[1]))).toEqual(
      new Set(['expect.MANIFEST_MISMATCH']),
    );
    expect(await bytesBelow(first)).toEqual(before);
  });

  test('leaves an extra file unchanged', async () => {
    const { first, second } = await twoMirrors();
    await writeFile(join(first, 'note.txt'), 'x');
    await rot(partOf(first));
    expect((await repaired(first, second)).outcome).toBe('good');
    expect(await readFile(join(first, 'note.txt'), 'utf8')).toBe('x');
  });

  test('does not repair a locked mirror, and reports io.LOCKED', async () => {
    const { first, second } = await twoMirrors();
    await rot(partOf(first));
    await mkdir(join(first, '.drillproof-mirror'));
    const holder = { pid: process.ppid, host: (await import('node:os')).hostname(), sinceMs: NOW };
    await writeFile(join(first, '.drillproof-mirror/lock'), JSON.stringify(holder));
    const result = await repaired(first, second);
    expect(repairsOf(result)).toEqual([`${PART} io.LOCKED`]);
  });
});

if (isDeep) {
  describe('a full disk (needs root for a mount)', () => {
    test('ends a repair and keeps the damaged file; with space the next repair succeeds', async () => {
      const { second } = await twoMirrors();
      const disk = await newFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
      try {
        const first = join(disk, ONE);
        await cp(second, first, { recursive: true });
        await rot(partOf(first));
        const before = await readFile(partOf(first));
        await expect(writeFile(join(disk, 'filler'), Buffer.alloc(2 ** 20))).rejects.toThrow('ENOSPC');
        const journal = await newFolder();
        const full = await repaired(first, second, right, journal);
        expect([full.outcome, repairsOf(full)]).toEqual(['damaged', [`${PART} io.DISK_FULL`]]);
        expect(await readFile(partOf(first))).toEqual(before);
        await rm(join(disk, 'filler'));
        expect((await repaired(first, second, right, journal)).outcome).toBe('good');
        expect((await readdir(first)).filter((name) => name.startsWith('.'))).toEqual([]);
      } finally {
        execFileSync('umount', [disk]);
      }
    });
  });
}

describe('a damaged document', () => {
  test.each(['manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS'])(
    'is restored byte for byte: %s',
    async (path) => {
      const { first, second } = await twoMirrors();
      const sound = await readFile(join(first, path));
      for (let offset = 3; offset < sound.length; offset += 101) {
        await rot(join(first, path), offset, offset % 5);
        const result = await repaired(first, second);
        expect([path, offset, result.outcome]).toEqual([path, offset, 'good']);
        expect(await readFile(join(first, path))).toEqual(sound);
      }
    },
  );

  test('is restored if it is missing', async () => {
    const { first, second } = await twoMirrors();
    const sound = await readFile(join(first, 'manifest.json'));
    await rm(join(first, 'manifest.json'));
    expect((await repaired(first, second)).outcome).toBe('good');
    expect(await readFile(join(first, 'manifest.json'))).toEqual(sound);
  });

  test('is not restored without an expected digest or a trusted key, and nothing is written', async () => {
    const { first, second, made } = await twoMirrors();
    await rot(partOf(first));
    await rot(join(first, 'manifest.json'));
    const before = await bytesBelow(first);
    for (const trust of [undefined, makeTrust(makeSigner())]) {
      const result = await repaired(first, second, trust === undefined ? {} : { trust });
      expect(repairsOf(result).every((line) => line.endsWith('scrub.MANIFEST_UNDECIDABLE'))).toBe(true);
      expect(result.faults[0]!.repair).toMatchObject({
        message: expect.stringContaining('Pass --expect-manifest DIGEST'),
      });
      expect(await bytesBelow(first)).toEqual(before);
    }
    expect((await repaired(first, second, { trust: makeTrust(made.signer) })).outcome).toBe('good');
  });

  test('is identified by a trusted attestation of the second mirror if the first has none', async () => {
    const { first, second, made } = await twoMirrors();
    await rm(join(first, 'export-attestation.json'));
    await rot(join(first, 'manifest.json'));
    const result = await repaired(first, second, { trust: makeTrust(made.signer) });
    expect([result.outcome, told(await scrubbed(first))]).toEqual(['good', []]);
  });

  test('is identified by an expected digest or by a trusted attestation', async () => {
    const { first, second, made } = await twoMirrors();
    const spoil = async (): Promise<void> => {
      for (const path of ['manifest.json', 'export.json', 'SHA256SUMS'])
        await writeFile(join(first, path), 'rot');
      await rm(join(first, 'receipts'), { recursive: true, force: true });
    };
    await spoil();
    const stranger = makeTrust(makeSigner());
    expect((await repaired(first, second, { trust: stranger, projectId: PROJECT })).outcome).toBe('damaged');
    const { manifestDigest } = made.packed;
    expect(
      (await repaired(first, second, { expectManifest: manifestDigest, projectId: PROJECT })).outcome,
    ).toBe('good');
    await spoil();
    const trust = makeTrust(made.signer);
    expect((await repaired(first, second, { trust, projectId: PROJECT })).outcome).toBe('good');
  });

  test('is not identified by a valid attestation of another export', async () => {
    const { first } = await twoMirrors();
    const other = await madeExport(2);
    const folder = join(await newFolder(), TWO);
    await mirrorInto(folder, other);
    await cp(join(folder, 'export-attestation.json'), join(first, 'export-attestation.json'));
    const before = await readFile(join(first, 'manifest.json'));
    const trust = makeTrust(other.signer);
    const result = await repaired(first, folder, { trust });
    expect(result.outcome).toBe('damaged');
    expect(await readFile(join(first, 'manifest.json'))).toEqual(before);
    expect(await readdir(join(first, 'parts'))).toHaveLength(3);
  });

  test('is identified by the second mirror if the first has a valid attestation of another export', async () => {
    const signer = makeSigner();
    const [own, other] = [await madeExport(1, 3, signer), await madeExport(2, 3, signer)];
    const [first, second] = [join(await newFolder(), ONE), join(await newFolder(), ONE)];
    for (const folder of [first, second]) await mirrorInto(folder, own);
    await writeFile(join(first, 'export-attestation.json'), other.files['export-attestation.json']!);
    const trust = makeTrust(signer);
    expect((await scrubbed(first, { trust }))[0]!.outcome).toBe('damaged');
    expect((await repaired(first, second, { trust })).outcome).toBe('good');
    expect(told(await scrubbed(first, { trust }))).toEqual([]);
  });
});

test('a repair reports a part that is wrong in every copy', async () => {
  const { root, exports } = await makeArchive({ mirrors: 1 });
  const second = await newFolder();
  await cp(join(root, ONE), join(second, ONE), { recursive: true });
  const trust = makeTrust(makeSigner());
  const expectManifest = exports[0]!.packed.manifestDigest;
  const how = { depth: 'full', trust, expectManifest } as const;
  const result = await repaired(join(root, ONE), join(second, ONE), how);
  expect(result.outcome).toBe('damaged');
  expect(repairsOf(result)).toContain(`${PART} scrub.REPAIR_INCOMPLETE`);
});

test('a repair reports no part as repaired if the manifest is damaged meanwhile', async () => {
  const { first, second } = await twoMirrors();
  await rot(partOf(first, 0));
  const source = replicaClient(directorySource(second), `file://${second}`);
  const failing = async (): Promise<never> => {
    await writeFile(join(first, 'manifest.json'), '{}');
    throw new DrillproofError('part.MISSING', 'it is not there either', { path: PART });
  };
  const { exports } = source.evidence;
  const client = { ...source, evidence: { exports: { ...exports, parts: { download: failing } } } };
  const result = await repaired(first, client);
  expect(result.outcome).toBe('damaged');
  expect(repairsOf(result)).toContain(`${PART} part.MISSING`);
  expect(told([result])).toContainEqual(expect.stringContaining('manifest.json'));
});
