import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { defined } from '../../../src/bytes/arguments.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { parseReceipt } from '../../../src/evidence/export/receipt.ts';
import { directorySource } from '../../../src/node/evidence/directory-source.ts';
import { openScrubArchive } from '../../../src/node/scrub-archive.ts';
import { replicaClient, type MirrorClient } from '../../../src/mirror/replica.ts';
import { repairMirror, type RepairOptions } from '../../../src/scrub/repair.ts';
import { scrubMirror } from '../../../src/scrub/mirror.ts';
import type { MirrorScrub } from '../../../src/report/many/scrubs.ts';
import { type MadeExport, makeTrust, makeSigner, NOW, PROJECT } from '../../support/evidence.ts';
import {
  cleanUp,
  exportId,
  makeExportWithId,
  mirrorInto,
  newFolder,
  partOf,
  rot,
  scrubArchive,
  listFaults,
} from './make.ts';
import { filesOf as readBelow } from '../../mirror/make.ts';
import { isDeep } from '../../support/deep.ts';
import { mountDisk } from '../killing.ts';

afterEach(cleanUp);

const PART = 'parts/evidence_000000000001.zip';

/** The default options of a repair: the manifest digest of the last export. */
let expected: Partial<RepairOptions> = {};

/** Scrubs a mirror, and repairs it from another folder or client. */
async function scrubAndRepair(
  folder: string,
  from: string | MirrorClient,
  options: Partial<RepairOptions> = expected,
  journal?: string,
): Promise<MirrorScrub> {
  const archive = await openScrubArchive(folder, journal === undefined ? {} : { journal });
  const place = archive.open(archive.mirrors[0]!);
  const { projectId, ...scrub } = options;
  const how = { tool: 'drillproof/test', now: () => NOW + 1_000, ...scrub };
  const client = typeof from === 'string' ? replicaClient(directorySource(from), `file://${from}`) : from;
  return repairMirror(place, await scrubMirror(place, how), async () => client, {
    ...how,
    ...defined({ projectId }),
  });
}

/** The outcome and the repairs, as `path code`, sorted. */
const summarize = ({ outcome, faults }: MirrorScrub): string[] => [
  outcome,
  ...faults
    .map(({ path, repair }) => `${path} ${typeof repair === 'object' ? repair.code : repair}`)
    .toSorted(),
];
/** The outcome, and the codes of all repairs. */
const listCodes = (result: MirrorScrub): unknown[] => {
  const [outcome, ...repairs] = summarize(result);
  return [outcome, ...new Set(repairs.map((line) => line.split(' ')[1]))];
};

async function makeMirrorOf(sample: MadeExport, how: { bag?: boolean } = {}): Promise<string> {
  const folder = join(await newFolder(), sample.packed.manifest.evidenceExportId);
  await mirrorInto(folder, sample, how);
  return folder;
}

/** Makes two equal mirrors of one export. */
async function makeTwoMirrors({ bag = false } = {}) {
  const sample = await makeExportWithId(1);
  const [first, second] = [await makeMirrorOf(sample, { bag }), await makeMirrorOf(sample)];
  expected = { expectManifest: sample.packed.manifestDigest };
  return { first, second, sample };
}

describe('a repair from a second mirror', () => {
  test('restores a damaged and a missing part, writes a receipt, and leaves the second mirror unchanged', async () => {
    const { first, second } = await makeTwoMirrors();
    const before = await readBelow(second);
    await rot(partOf(first, 0));
    await rm(partOf(first, 1));
    const result = await scrubAndRepair(first, second);
    expect(await readBelow(second)).toEqual(before);
    expect(summarize(result)).toEqual([
      'good',
      `${PART} repaired`,
      'parts/evidence_000000000002.zip repaired',
    ]);
    expect(await readFile(partOf(first))).toEqual(await readFile(partOf(second)));
    expect(listFaults(await scrubArchive(first))).toEqual([]);
    const receipts = (await readdir(join(first, 'receipts'))).toSorted();
    const last = parseReceipt(await readFile(join(first, 'receipts', receipts.at(-1)!)));
    expect(receipts).toHaveLength(2);
    expect(last).toMatchObject({ source: `file://${second}`, outcome: 'complete', projectId: PROJECT });
  });

  test('repairs a bag, and then its tag files', async () => {
    const { first, second } = await makeTwoMirrors({ bag: true });
    await rot(partOf(join(first, 'data')));
    expect((await scrubAndRepair(first, second)).outcome).toBe('good');
    expect(listFaults(await scrubArchive(first))).toEqual([]);
  });

  test('changes nothing in an intact mirror', async () => {
    const { first, second } = await makeTwoMirrors();
    const before = await readBelow(first);
    expect((await scrubAndRepair(first, second)).faults).toEqual([]);
    expect(await readBelow(first)).toEqual(before);
  });

  test('reports each file that is damaged in both mirrors, and keeps both copies', async () => {
    const { first, second } = await makeTwoMirrors();
    await rot(partOf(first, 0));
    await rot(partOf(second, 0), 200);
    await rot(partOf(first, 1));
    await rot(partOf(first, 2));
    await rm(partOf(second, 2));
    const before = await readFile(partOf(first, 0));
    expect(summarize(await scrubAndRepair(first, second))).toEqual([
      'damaged',
      `${PART} part.DIGEST_MISMATCH`,
      'parts/evidence_000000000002.zip repaired',
      'parts/evidence_000000000003.zip part.MISSING',
    ]);
    expect(await readFile(partOf(first, 0))).toEqual(before);
  });

  test('copies nothing from a mirror of another export', async () => {
    const { first } = await makeTwoMirrors();
    const other = await makeMirrorOf(await makeExportWithId(2));
    await rot(partOf(first));
    const before = await readBelow(first);
    expect(summarize(await scrubAndRepair(first, other))).toEqual([
      'damaged',
      `${PART} scrub.REPLICA_FOREIGN`,
    ]);
    expect(await readBelow(first)).toEqual(before);
  });

  test('copies nothing from a mirror of the same id with another manifest', async () => {
    const { first } = await makeTwoMirrors();
    const other = await makeMirrorOf(await makeExportWithId(1, 4));
    for (const path of ['parts', 'manifest.json', 'export.json'])
      await rot(path === 'parts' ? partOf(first) : join(first, path), 60, 0);
    const before = await readBelow(first);
    expect(listCodes(await scrubAndRepair(first, other))).toEqual(['damaged', 'expect.MANIFEST_MISMATCH']);
    expect(await readBelow(first)).toEqual(before);
  });

  test('leaves an extra file unchanged, and does not call the mirror good', async () => {
    const { first, second } = await makeTwoMirrors();
    await writeFile(join(first, 'note.txt'), 'x');
    await rot(partOf(first));
    const { outcome, faults } = await scrubAndRepair(first, second);
    expect(outcome).toBe('damaged');
    expect(faults.map(({ path, repair }) => [path, repair])).toEqual([
      ['note.txt', undefined],
      [PART, 'repaired'],
    ]);
    expect(await readFile(join(first, 'note.txt'), 'utf8')).toBe('x');
  });

  test('does not repair a locked mirror, and reports io.LOCKED', async () => {
    const { first, second } = await makeTwoMirrors();
    await rot(partOf(first));
    await mkdir(join(first, '.drillproof-mirror'));
    const holder = { pid: process.ppid, host: hostname(), sinceMs: NOW };
    await writeFile(join(first, '.drillproof-mirror/lock'), JSON.stringify(holder));
    expect(summarize(await scrubAndRepair(first, second))).toEqual(['damaged', `${PART} io.LOCKED`]);
  });
});

if (isDeep) {
  test('a full disk (needs root for a mount) ends a repair and keeps the damaged file; with space the next repair succeeds', async () => {
    const { second } = await makeTwoMirrors();
    const disk = await mountDisk(1_024);
    const first = join(disk, exportId(1));
    await cp(second, first, { recursive: true });
    await rot(partOf(first));
    const before = await readFile(partOf(first));
    await expect(writeFile(join(disk, 'filler'), Buffer.alloc(2 ** 20))).rejects.toThrow('ENOSPC');
    const journal = await newFolder();
    const full = await scrubAndRepair(first, second, expected, journal);
    expect(summarize(full)).toEqual(['damaged', `${PART} io.DISK_FULL`]);
    expect(await readFile(partOf(first))).toEqual(before);
    await rm(join(disk, 'filler'));
    expect((await scrubAndRepair(first, second, expected, journal)).outcome).toBe('good');
    expect((await readdir(first)).filter((name) => name.startsWith('.'))).toEqual([]);
  });
}

describe('a damaged document', () => {
  test.each(['manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS'])(
    'is restored byte for byte: %s',
    async (path) => {
      const { first, second } = await makeTwoMirrors();
      const sound = await readFile(join(first, path));
      for (let offset = 3; offset < sound.length; offset += 101) {
        await rot(join(first, path), offset, offset % 5);
        const result = await scrubAndRepair(first, second);
        expect([path, offset, result.outcome]).toEqual([path, offset, 'good']);
        expect(await readFile(join(first, path))).toEqual(sound);
      }
    },
  );

  test('is restored if it is missing', async () => {
    const { first, second } = await makeTwoMirrors();
    const sound = await readFile(join(first, 'manifest.json'));
    await rm(join(first, 'manifest.json'));
    expect((await scrubAndRepair(first, second)).outcome).toBe('good');
    expect(await readFile(join(first, 'manifest.json'))).toEqual(sound);
  });

  test('is not restored without an expected digest or a trusted key, and nothing is written', async () => {
    const { first, second } = await makeTwoMirrors();
    await rot(partOf(first));
    await rot(join(first, 'manifest.json'));
    const before = await readBelow(first);
    for (const trust of [undefined, makeTrust(makeSigner())]) {
      const result = await scrubAndRepair(first, second, defined({ trust }));
      expect(listCodes(result)).toEqual(['damaged', 'scrub.MANIFEST_UNDECIDABLE']);
      expect(await readBelow(first)).toEqual(before);
    }
  });

  test('is identified by a trusted attestation of the second mirror if the first has none', async () => {
    const { first, second, sample } = await makeTwoMirrors();
    await rm(join(first, 'export-attestation.json'));
    await rot(join(first, 'manifest.json'));
    const result = await scrubAndRepair(first, second, { trust: makeTrust(sample.signer) });
    expect([result.outcome, listFaults(await scrubArchive(first))]).toEqual(['good', []]);
  });

  test('is identified by an expected digest or by a trusted attestation', async () => {
    const { first, second, sample } = await makeTwoMirrors();
    const spoil = async (): Promise<void> => {
      for (const path of ['manifest.json', 'export.json', 'SHA256SUMS'])
        await writeFile(join(first, path), 'rot');
      await rm(join(first, 'receipts'), { recursive: true, force: true });
    };
    await spoil();
    const repair = async (options: Partial<RepairOptions>): Promise<string> =>
      (await scrubAndRepair(first, second, { ...options, projectId: PROJECT })).outcome;
    expect(await repair({ trust: makeTrust(makeSigner()) })).toBe('damaged');
    expect(await repair({ expectManifest: sample.packed.manifestDigest })).toBe('good');
    await spoil();
    expect(await repair({ trust: makeTrust(sample.signer) })).toBe('good');
  });

  test('is not identified by a valid attestation of another export', async () => {
    const { first } = await makeTwoMirrors();
    const other = await makeExportWithId(2);
    const folder = await makeMirrorOf(other);
    await cp(join(folder, 'export-attestation.json'), join(first, 'export-attestation.json'));
    const before = await readFile(join(first, 'manifest.json'));
    const trust = makeTrust(other.signer);
    const result = await scrubAndRepair(first, folder, { trust });
    expect(result.outcome).toBe('damaged');
    expect(await readFile(join(first, 'manifest.json'))).toEqual(before);
    expect(await readdir(join(first, 'parts'))).toHaveLength(3);
  });

  test('is identified by the second mirror if the first has a valid attestation of another export', async () => {
    const signer = makeSigner();
    const [right, other] = [await makeExportWithId(1, 3, signer), await makeExportWithId(2, 3, signer)];
    const [first, second] = [await makeMirrorOf(right), await makeMirrorOf(right)];
    await writeFile(join(first, 'export-attestation.json'), other.files['export-attestation.json']!);
    const trust = makeTrust(signer);
    expect((await scrubArchive(first, { trust }))[0]!.outcome).toBe('damaged');
    expect((await scrubAndRepair(first, second, { trust })).outcome).toBe('good');
    expect(listFaults(await scrubArchive(first, { trust }))).toEqual([]);
  });
});

test('a repair reports a part that is wrong in every copy', async () => {
  const { first, second } = await makeTwoMirrors();
  const how = { ...expected, depth: 'full', trust: makeTrust(makeSigner()) } as const;
  const result = summarize(await scrubAndRepair(first, second, how));
  expect(result).toEqual(expect.arrayContaining(['damaged', `${PART} scrub.REPAIR_INCOMPLETE`]));
});

test('a repair reports no part as repaired if the manifest is damaged meanwhile', async () => {
  const { first, second } = await makeTwoMirrors();
  await rot(partOf(first, 0));
  const source = replicaClient(directorySource(second), `file://${second}`);
  const failing = async (): Promise<never> => {
    await writeFile(join(first, 'manifest.json'), '{}');
    throw new DrillproofError('part.MISSING', 'it is missing too', { path: PART });
  };
  const { exports } = source.evidence;
  const client = { ...source, evidence: { exports: { ...exports, parts: { download: failing } } } };
  const result = await scrubAndRepair(first, client);
  expect(summarize(result)).toEqual(expect.arrayContaining(['damaged', `${PART} part.MISSING`]));
  expect(listFaults([result])).toContainEqual(expect.stringContaining('manifest.json'));
});
