import { InvalidArgumentError } from 'commander';
import { defined } from '../../bytes/arguments.ts';
import { closeAfter } from '../../bytes/async.ts';
import { digestOf } from '../../bytes/hash.ts';
import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import { codeEntry } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { EXPORT_MANIFEST } from '../../evidence/export/pack-export.ts';
import { readFile } from '../../evidence/source.ts';
import { type Acknowledgement, INVENTORY, type Inventory, InventoryLog } from '../../mirror/inventory.ts';
import { JOURNALS } from '../../evidence/export/receipt.ts';
import { removeMirror } from '../../mirror/removal.ts';
import { openVolume } from '../../node/open-volume.ts';
import type { Volume } from '../../node/volume/volume.ts';
import { JOURNAL, openScrubArchive, type ScrubArchive } from '../../node/scrub-archive.ts';
import { size } from '../../report/text/page.ts';
import { describeSeen } from '../../scrub/known.ts';
import { readLastReads } from '../../scrub/journal.ts';
import { scrubMirror } from '../../scrub/mirror.ts';
import { ifReadable, isError } from '../../scrub/result.ts';
import type { Cli } from '../cli.ts';
import { EXIT, exitOfCode, worstExit } from '../exit.ts';
import { packArchive } from './pack.ts';
import { type Fault, formatRehearsal, rehearseRestore, toFault } from './rehearse.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseDigest, parseNumberBetween, parseTime, STANDARD } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { alignFacts, formatTable, readToolName, writeProduct } from '../shared/output/product.ts';

const PLACE = 'folder or s3://bucket/prefix of mirrors';

const LIST = [...STANDARD, option('--at <time>', 'show what the archive held at this time', parseTime)];
const VERIFY = [
  ...STANDARD,
  option('--expect-head <digest>', 'require a line of the inventory with this SHA-256', parseDigest),
  option(
    '--rehearse <n>',
    'also restore this many mirrors, chosen at random, into a temporary folder, and verify every byte',
    parseNumberBetween(1, 100_000),
  ),
];
const PACK = [...STANDARD, option('--to <folder>', 'folder for the files').required()];
const BY = [
  ...STANDARD,
  option('--by <name>', 'who decides it', (value) => parseNote(value, 200)).required(),
  option('--reason <text>', 'why, for the record', (value) => parseNote(value, 1_800)).required(),
];

function parseNote(value: string, max: number): string {
  if (value.trim() !== '' && value.length <= max) return value;
  throw new InvalidArgumentError(`It must be 1 to ${max} characters.`);
}

export function defineCommand(archive: CliCommand, cli: Cli): void {
  archive.description('Show and verify what an archive of mirrors contains, and accept known damage.');
  archive
    .command('list')
    .description('Show the inventory of an archive. Its chain is verified; no mirror is read.')
    .argument('<place>', PLACE)
    .perform(LIST, (options, place: string) => list(cli, place, options))
    .examples({ 'what it held on a day': 'drillproof archive list ./archive --at 2026-06-30 --json' });
  archive
    .command('verify')
    .description(
      'Compare an archive with its inventory: its chain is verified, and every mirror must exist with its manifest. Parts are not read.',
    )
    .argument('<place>', PLACE)
    .perform(VERIFY, (options, place: string) => verify(cli, place, options))
    .examples({
      'that no line was removed since you looked':
        'drillproof archive verify ./archive --expect-head sha256:…',
      'that five mirrors can really be restored': 'drillproof archive verify ./archive --rehearse 5',
    });
  archive
    .command('pack')
    .description(
      'Write each mirror of an archive as one ZIP, for media with few inodes. Every digest is verified in the written file.',
    )
    .argument('<place>', PLACE)
    .perform(PACK, ({ to }, place: string) => packArchive(cli, place, to))
    .examples({
      'a copy for a tape': 'drillproof archive pack ./archive --to /mnt/tape',
      'and back': 'drillproof mirror --all --from /mnt/tape --to ./restored',
    });
  archive
    .command('acknowledge')
    .description('Record damage that the last scrub found as known, while exactly this is seen.')
    .argument('<place>', PLACE)
    .argument('<file>', 'name of a mirror, or of a file in it: evexp_…/receipts/….json')
    .perform(BY, (options, place: string, file: string) => acknowledge(cli, { place, file }, options))
    .examples({
      'a damaged receipt':
        'drillproof archive acknowledge ./archive evexp_0123456789ab/receipts --by "Ana Ruiz" --reason "disk fault, ticket 812"',
    });
  defineRowCommands(archive, cli);
}

/** Commands that change the row of one export in the inventory. */
function defineRowCommands(archive: CliCommand, cli: Cli): void {
  const id = 'evexp_0123456789ab';
  const why = '--by "Ana Ruiz" --reason "case 812"';
  const define = (name: keyof typeof ROWS, description: string) =>
    archive
      .command(name)
      .description(description)
      .argument('<place>', PLACE)
      .argument('<export>', 'id of the export')
      .perform(BY, (options, place: string, evidenceExportId: string) =>
        changeRow(cli, ROWS[name], { place, evidenceExportId }, options),
      )
      .examples({ 'an export': `drillproof archive ${name} ./archive ${id} ${why}` });
  define('hold', 'Put a hold on a mirror. No command of drillproof removes it until the hold is released.');
  define('release', 'Release the hold of a mirror, and record who did.');
  define(
    'remove',
    'Remove a mirror, unless a hold or the lock of the storage prevents it. The inventory keeps who and why.',
  );
}

type Who = { readonly by: string; readonly reason: string };
type Open = { readonly log: InventoryLog; readonly volume: Volume; readonly id: string };

/** The changes of a row, by the command. */
const ROWS = {
  hold: ({ log, id }: Open, { by, reason }: Who) =>
    log.edit(id, (row, atMs) => ({ ...row, hold: { by, reason, atMs } })),
  release: ({ log, id }: Open, { by, reason }: Who) =>
    log.edit(id, ({ hold, ...row }, atMs) => ({
      ...row,
      ...(hold !== undefined && { released: { by, reason, atMs } }),
    })),
  remove: ({ log, volume, id }: Open, { by, reason }: Who) =>
    removeMirror(log, id, volume.child(id), `${by}: ${reason}`),
} as const;

async function changeRow(
  cli: Cli,
  change: (open: Open, who: Who) => Promise<void>,
  { place, evidenceExportId: id }: { readonly place: string; readonly evidenceExportId: string },
  { by, reason }: Who,
): Promise<void> {
  await closeAfter(await openVolume(place, cli.env), async (volume) => {
    const log = new InventoryLog(volume.log(INVENTORY), await readToolName(), cli.now);
    const before = await log.read();
    if (before === undefined) throw noInventory(place);
    if (!before.exports.has(id))
      throw usageError(`the inventory does not name ${id}`, 'Name an export that it lists.');
    await change({ log, volume, id }, { by, reason });
    const row = (await log.read())?.exports.get(id);
    await writeProduct(
      cli,
      { kind: 'archive.changed', place, export: row },
      alignFacts([
        [row?.state === 'removed' ? 'removed' : 'mirror', id],
        ['hold', row?.hold === undefined ? 'none' : `${row.hold.by}: ${row.hold.reason}`],
        ['because', row?.removedBecause],
      ]),
    );
  });
}

const noInventory = (place: string): DrillproofError =>
  new DrillproofError('inventory.NONE', `${place} has no ${INVENTORY}`, { path: place });

const openLog = async (cli: Cli, place: string) => {
  const volume = await openVolume(place, cli.env);
  const log = new InventoryLog(volume.log(INVENTORY), await readToolName(), cli.now);
  return { log, volume, close: () => volume.close() };
};

const describeHead = ({ number, head, atMs }: Inventory) => ({ number, ...defined({ head }), atMs });

async function list(cli: Cli, place: string, { at }: OptionsOf<typeof LIST>): Promise<void> {
  const { inventory, times } = await closeAfter(await openLog(cli, place), async ({ log, volume }) => ({
    inventory: await log.read(at),
    // The journal has only the last time.
    times:
      at === undefined ? await readLastReads(volume.child(JOURNALS).log(JOURNAL)) : new Map<string, number>(),
  }));
  if (inventory === undefined) throw noInventory(place);
  const exports = [...inventory.exports.values()].map((row) => ({
    ...row,
    ...defined({ readAtMs: times.get(row.evidenceExportId) }),
  }));
  const acknowledged = [...inventory.acknowledged.values()];
  const rows = exports.map(
    ({ evidenceExportId, state, mirroredAtMs, readAtMs, files, bytes, manifestDigest }) => [
      evidenceExportId,
      state,
      isoTime(mirroredAtMs),
      readAtMs === undefined ? '-' : isoTime(readAtMs),
      count(files),
      size(bytes),
      manifestDigest,
    ],
  );
  const held = exports.filter(({ state }) => state === 'held');
  const total = `${countNoun(held.length, 'export')}, ${size(held.reduce((sum, { bytes }) => sum + bytes, 0))}`;
  const lines = alignFacts([
    ['archive', place],
    ['held', total],
    ['line', `${count(inventory.number)}, written ${isoTime(inventory.atMs)}`],
    ['head', inventory.head],
    ['known', acknowledged.length === 0 ? undefined : countNoun(acknowledged.length, 'acknowledged fault')],
  ]);
  const table = formatTable(['EXPORT', 'STATE', 'MIRRORED', 'LAST READ', 'FILES', 'SIZE', 'MANIFEST'], rows);
  const json = { kind: 'archive.listed', place, ...describeHead(inventory), exports, acknowledged };
  await writeProduct(cli, json, `${lines}${table}`, `held  ${total}`);
}

async function verify(
  cli: Cli,
  place: string,
  { expectHead, rehearse }: OptionsOf<typeof VERIFY>,
): Promise<void> {
  await closeAfter(await openScrubArchive(place, { env: cli.env }), async (archive) => {
    const { inventory, inventoryFault } = archive;
    if (inventoryFault !== undefined) throw inventoryFault;
    if (inventory === undefined) throw noInventory(place);
    const faults: Fault[] = [];
    if (expectHead !== undefined && !inventory.heads.has(expectHead))
      faults.push({ mirror: '', code: 'inventory.HEAD_MISMATCH', message: `no line has ${expectHead}` });
    for (const name of archive.mirrors) {
      cli.signal.throwIfAborted();
      faults.push(
        ...(await compareMirror(archive, inventory, name).catch((error) => [toFault(cli, name, error)])),
      );
    }
    const rehearsal =
      rehearse === undefined ? undefined : await rehearseRestore(cli, place, inventory, rehearse);
    faults.push(...(rehearsal?.faults ?? []));
    const errors = faults.filter(isError);
    cli.exitCode = worstExit([EXIT.pass, ...errors.map(({ code }) => exitOfCode(code))]);
    const rows = faults.map(({ mirror, code, message }) => [mirror, code, message]);
    const codes = [...new Set(faults.map(({ code }) => code))];
    const text = alignFacts([
      [errors.length === 0 ? 'complete' : 'incomplete', place],
      ['mirrors', count(archive.mirrors.length)],
      ['head', inventory.head],
      ['rehearsed', rehearsal && formatRehearsal(rehearsal)],
      ...codes.map((code) => [`to do (${code})`, codeEntry(code).action] as const),
    ]);
    const outcome = errors.length === 0 ? 'complete' : 'incomplete';
    const json = {
      kind: 'archive.verified',
      place,
      outcome,
      ...describeHead(inventory),
      ...defined({ rehearsed: rehearsal?.restored }),
      faults,
    };
    await writeProduct(cli, json, `${text}${formatTable(['MIRROR', 'CODE', 'WHY'], rows)}`);
  });
}

/** Compares the name and the manifest of a mirror with the inventory. */
async function compareMirror(archive: ScrubArchive, inventory: Inventory, mirror: string): Promise<Fault[]> {
  const row = inventory.exports.get(mirror);
  const view = await archive.open(mirror).look();
  if (view.files.size === 0) return [{ mirror, code: 'scrub.MIRROR_MISSING', message: 'it has no file' }];
  if (row?.state !== 'held')
    return [{ mirror, code: 'inventory.UNLISTED', message: 'the inventory does not name it' }];
  const digest = await ifReadable(async () =>
    digestOf(await readFile(view.source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes)),
  );
  if (digest === undefined)
    return [{ mirror, code: 'io.UNREADABLE', message: `${EXPORT_MANIFEST} is missing or cannot be read` }];
  if (digest === row.manifestDigest) return [];
  const message = `the digest of ${EXPORT_MANIFEST} is ${digest}, not ${row.manifestDigest}`;
  return [{ mirror, code: 'expect.MANIFEST_MISMATCH', message }];
}

type Named = { readonly place: string; readonly file: string };

async function acknowledge(
  cli: Cli,
  { place, file }: Named,
  { by, reason }: OptionsOf<typeof BY>,
): Promise<void> {
  const [mirror = '', ...steps] = file.split('/');
  const below = steps.join('/');
  const accepted = await closeAfter(await openScrubArchive(place, { env: cli.env }), async (archive) => {
    if (archive.single || !archive.mirrors.includes(mirror))
      throw usageError(`${place} has no mirror ${mirror}`, 'Name a folder of mirrors, and one of them.');
    if (archive.inventory === undefined) throw archive.inventoryFault ?? noInventory(place);
    const at = archive.open(mirror);
    const tool = await readToolName();
    const { faults } = await scrubMirror(at, {
      tool,
      now: cli.now,
      signal: cli.signal,
      olderThanMs: cli.now(),
    });
    const view = await at.look();
    const named = faults.filter(
      ({ path, code }) =>
        isError({ code }) && (below === '' || path === below || path.startsWith(`${below}/`)),
    );
    return Promise.all(
      named.map(async ({ path, code, expected }): Promise<Acknowledgement> => {
        const seen = await describeSeen(view, path);
        return { mirror, path, code, seen, ...defined({ expected }), by, reason, atMs: cli.now() };
      }),
    );
  });
  if (accepted.length === 0)
    throw usageError(
      `no scrub found damage in ${file}`,
      'Scrub the archive first; good files need no acknowledgement.',
    );
  await closeAfter(await openLog(cli, place), ({ log }) => log.write({ acknowledged: accepted }));
  const rows = accepted.map(({ path, code, seen }) => [path, code, seen]);
  const text = `accepted  ${countNoun(accepted.length, 'fault')} of ${mirror}\n${formatTable(['FILE', 'CODE', 'SEEN'], rows)}`;
  await writeProduct(cli, { kind: 'archive.acknowledged', place, acknowledged: accepted }, text);
}
