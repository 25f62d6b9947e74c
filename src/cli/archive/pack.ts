import { createWriteStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { closeAfter } from '../../bytes/async.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { streamAccess } from '../../bytes/random-access.ts';
import { count, countNoun } from '../../bytes/text/wording.ts';
import { DrillproofError } from '../../errors.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import { type EvidenceSource, readFile } from '../../evidence/source.ts';
import { INVENTORY } from '../../mirror/inventory.ts';
import { fsyncFile, writeDurably } from '../../node/durable-file.ts';
import { type ExportFile, zipExport } from '../../node/evidence/yazl-export.ts';
import { openEvidence } from '../../node/open-evidence.ts';
import { openVolume } from '../../node/open-volume.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/scrub-archive.ts';
import { allFindings } from '../../verify/finding.ts';
import { verifyExport } from '../../verify/export/export.ts';
import type { Cli } from '../cli.ts';
import { EXIT, exitOfCode, worstExit } from '../exit.ts';
import { type Fault, toFault } from './rehearse.ts';
import { alignFacts, formatTable, writeProduct } from '../shared/output/product.ts';
import { withProgress } from '../shared/output/progress.ts';
import { equalBytes } from '../../zip/read/extra.ts';

type Packed = { readonly files: number; readonly bytes: number };

/**
 * Writes each mirror of an archive as one ZIP. A file gets its name when it was read again and every digest was right. One
 * that exists with the expected manifest is kept.
 */
export async function packArchive(cli: Cli, place: string, to: string): Promise<void> {
  const archive = await openScrubArchive(place, { env: cli.env });
  await closeAfter(archive, async () => {
    if (archive.inventoryFault !== undefined) throw archive.inventoryFault;
    if (archive.mirrors.length === 0)
      throw new DrillproofError('scrub.NOTHING_FOUND', `${place} contains no mirror`, { path: place });
    await mkdir(to, { recursive: true });
    const total = { packed: 0, kept: 0, files: 0, bytes: 0 };
    const faults: Fault[] = [];
    await withProgress(cli, 'packed', 'exports', async (progress) => {
      for (const [at, mirror] of archive.mirrors.entries()) {
        cli.signal.throwIfAborted();
        try {
          const packed = await packMirror(cli, archive, mirror, join(to, `${mirror}.zip`));
          if (packed === undefined) total.kept++;
          else {
            total.packed++;
            total.files += packed.files;
            total.bytes += packed.bytes;
          }
        } catch (error) {
          faults.push(toFault(cli, mirror, error));
        }
        progress.update({ done: at + 1, of: archive.mirrors.length });
      }
    });
    await copyInventory(cli, place, to);
    cli.exitCode = worstExit([EXIT.pass, ...faults.map(({ code }) => exitOfCode(code))]);
    const facts = alignFacts([
      ['packed', `${countNoun(total.packed, 'export')}, ${countNoun(total.files, 'file')}`],
      ['kept', total.kept === 0 ? undefined : countNoun(total.kept, 'export')],
      ['failed', faults.length === 0 ? undefined : count(faults.length)],
      ['in', to],
    ]);
    const rows = faults.map(({ mirror, code, message }) => [mirror, code, message]);
    const table = formatTable(['MIRROR', 'CODE', 'WHY'], rows);
    await writeProduct(cli, { kind: 'archive.packed', place, to, ...total, faults }, `${facts}${table}`);
  });
}

async function packMirror(
  cli: Cli,
  archive: ScrubArchive,
  mirror: string,
  path: string,
): Promise<Packed | undefined> {
  const { source, files } = await archive.open(mirror).look();
  if (files.size === 0)
    throw new DrillproofError('scrub.MIRROR_MISSING', `${mirror} has no file`, { path: mirror });
  const row = archive.inventory?.exports.get(mirror);
  const found = await digestManifest(source);
  if (row?.state === 'held' && row.manifestDigest !== found)
    throw new DrillproofError(
      'expect.MANIFEST_MISMATCH',
      `the manifest is ${found}, not ${row.manifestDigest}`,
    );
  if (await isPacked(path, files.size, found)) return undefined;
  const list = [...files.values()].filter(({ regular }) => regular);
  const entries = list
    .map(({ path: name, bytes }): ExportFile => ({ path: name, bytes, open: () => readEntry(source, name) }))
    .toSorted((a, b) => rank(a) - rank(b));
  await writeDurably(path, async (temporary) => {
    await zipExport(entries, createWriteStream(temporary, { flags: 'wx' }), { signal: cli.signal });
    await closeAfter(await open(temporary, 'r+'), ({ fd }) => fsyncFile(fd));
    await assertVerified(cli, temporary, found);
  });
  return { files: list.length, bytes: list.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** The manifest is first, as in every export in one file. */
const rank = ({ path }: ExportFile): number => (path === EXPORT_MANIFEST ? 0 : 1);

async function* readEntry(source: EvidenceSource, path: string): AsyncGenerator<Uint8Array> {
  const file = await source.open(path);
  try {
    yield* streamAccess(file);
  } finally {
    await file.close();
  }
}

const digestManifest = async (source: EvidenceSource): Promise<Digest> =>
  digestOf(await readFile(source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes));

/** True if the file exists with as many files and this manifest. Its parts are not read. */
async function isPacked(path: string, files: number, manifestDigest: Digest): Promise<boolean> {
  try {
    return await closeAfter(
      await openEvidence(path),
      async (evidence) =>
        evidence.kind === 'export' &&
        (await evidence.source.files()).length === files &&
        (await digestManifest(evidence.source)) === manifestDigest,
    );
  } catch (error) {
    if (error instanceof DrillproofError) return false; // it is written again
    throw error;
  }
}

/** Reads the whole file again. @throws DrillproofError the first fault */
async function assertVerified(cli: Cli, path: string, manifestDigest: Digest): Promise<void> {
  await closeAfter(await openEvidence(path), async (evidence) => {
    if (evidence.kind !== 'export') throw new DrillproofError('export.NOT_AN_EXPORT', 'it is not an export');
    const report = await verifyExport(evidence.source, {
      asOfMs: cli.now(),
      depth: 'digest',
      expect: { manifestDigest },
      signal: cli.signal,
    });
    if (report.verdict !== 'failed') return;
    const fault = allFindings(report).find(({ severity }) => severity === 'error');
    throw new DrillproofError(fault?.code ?? 'internal.BUG', fault?.message ?? 'it failed for no reason');
  });
}

/** Copies the inventory, so that the copy can be listed and verified like the archive. */
async function copyInventory(cli: Cli, place: string, to: string): Promise<void> {
  const lines = await closeAfter(await openVolume(place, cli.env), (volume) => volume.log(INVENTORY).read());
  if (lines === undefined) return;
  await closeAfter(await openVolume(to, cli.env), (volume) =>
    volume.log(INVENTORY).update((old) => {
      if (equalBytes(old, lines.subarray(0, old.length))) return lines;
      throw new DrillproofError(
        'inventory.DAMAGED',
        `the inventory of ${to} is not an earlier one of ${place}`,
      );
    }),
  );
}
