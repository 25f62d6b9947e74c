import { defined } from '../../bytes/arguments.ts';
import { closeAfter } from '../../bytes/async.ts';
import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import type { ChainResult, Finding, ReceiptLine, ReceiptsReport } from '../../verify/report.ts';
import { verifyReceipts } from '../../verify/receipts/receipts.ts';
import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseDigest, STANDARD } from '../shared/options/options.ts';
import { EXIT, type ExitCode, worstExit } from '../exit.ts';
import { writeProduct, alignFacts, formatTable } from '../shared/output/product.ts';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { evidenceExportIdSchema } from '../../contract/scalars.ts';
import { BAG_PAYLOAD } from '../../evidence/export/checksums.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/scrub-archive.ts';
import { checkName, missingFinding } from '../../scrub/result.ts';
import { DrillproofError } from '../../errors.ts';
import { type EvidenceSource, recognizeKind } from '../../evidence/source.ts';
import { listMirrors } from '../../evidence/subtrees.ts';
import { awaitCall } from '../../node/fs-errors.ts';
import { isS3Url } from '../../node/s3/location.ts';
import { openFile } from '../../node/evidence/file-access.ts';
import { openVolume } from '../../node/open-volume.ts';
import { openZipFile } from '../../node/open-evidence.ts';
import { usageError } from '../shared/options/values.ts';
import { withProgress } from '../shared/output/progress.ts';
import { escapeText } from '../../report/printable.ts';

const PLACE = 'mirror, folder of mirrors, s3://bucket/prefix, or export in a ZIP';

const VERIFY = [
  ...STANDARD,
  option('--expect-head <digest>', 'require a receipt with this SHA-256 in the chain', parseDigest),
];
type ReceiptsOptions = Pick<OptionsOf<typeof VERIFY>, 'expectHead'>;

export function defineCommand(receipts: CliCommand, cli: Cli): void {
  receipts.description(
    'List and verify the receipts that mirrors leave: what was fetched, from where, when.',
  );
  receipts
    .command('list')
    .description('Show the receipts of every mirror, oldest first. Nothing is verified.')
    .argument('<path>', PLACE)
    .perform(STANDARD, (_options, path: string) => list(cli, path))
    .examples({ 'of a mirror': 'drillproof receipts list ./mirror' });
  receipts
    .command('verify')
    .description('Verify the receipts of every mirror offline: each by itself, and their chain.')
    .argument('<path>', PLACE)
    .perform(VERIFY, (options, path: string) => verify(cli, path, options))
    .examples({
      'an archive': 'drillproof receipts verify ./archive',
      'that nothing was removed since you looked':
        'drillproof receipts verify ./mirror --expect-head sha256:…',
      'a bucket': 'drillproof receipts verify s3://archive/exports/ --json',
    })
    .addHelpText('after', MORE);
}

const MORE = `
Each receipt names the previous one by its digest, so the chain shows when one
was changed, added, or removed from the middle. That the newest were removed is
found only with --expect-head. Receipts are a local log, and prove nothing about
when evidence existed.`;

const EXITS: Readonly<Record<ChainResult, ExitCode>> = {
  sound: EXIT.pass,
  broken: EXIT.bad,
  unread: EXIT.unchecked,
  none: EXIT.unchecked,
};

async function verify(cli: Cli, path: string, options: ReceiptsOptions): Promise<void> {
  const mirrors = await verifyMirrorReceipts(cli, path, options);
  const line = mirrors.length > 1 ? formatReceiptTotals(mirrors) : undefined;
  await writeProduct(cli, { kind: 'receipts.verified', mirrors }, formatVerified(mirrors), line);
  cli.exitCode = worstExit(mirrors.map(({ report }) => EXITS[report.verdict]));
}

async function list(cli: Cli, path: string): Promise<void> {
  const mirrors = await verifyMirrorReceipts(cli, path, {});
  const items = mirrors.map(({ path: place, report: { evidenceExportId, head, receipts } }) => ({
    path: place,
    ...defined({ evidenceExportId, head }),
    receipts,
  }));
  const line = `${countNoun(items.length, 'mirror')}, ${countNoun(items.flatMap((item) => item.receipts).length, 'receipt')}`;
  await writeProduct(cli, { kind: 'receipts.listed', mirrors: items }, formatReceipts(mirrors), line);
  if (mirrors.every(({ report }) => report.receipts.length === 0)) cli.exitCode = EXIT.unchecked;
}

type ReceiptSettings = Parameters<typeof verifyReceipts>[1];

async function verifyMirrorReceipts(
  cli: Cli,
  path: string,
  options: ReceiptsOptions,
): Promise<readonly MirrorReceipts[]> {
  const settings: ReceiptSettings = { signal: cli.signal, ...defined({ expectHead: options.expectHead }) };
  return closeAfter(await openReceiptTree(cli, path), (tree) => verifyEach(cli, path, tree, settings));
}

async function verifyEach(
  cli: Cli,
  path: string,
  tree: ReceiptTree,
  settings: ReceiptSettings,
): Promise<MirrorReceipts[]> {
  const mirrors = await listMirrors(tree.source);
  const missing = await tree.listMissing(mirrors.map(({ prefix }) => readFolder(prefix)));
  if (mirrors.length + missing.length === 0)
    throw new DrillproofError('receipt.NONE', `${path} contains no mirror`, { path });
  if (settings.expectHead !== undefined && mirrors.length > 1)
    throw usageError(
      `--expect-head is for one mirror, and ${path} contains ${mirrors.length}`,
      'Name one of them.',
    );
  return withProgress(cli, 'verified', 'mirrors', async ({ update }) => {
    const reports: MirrorReceipts[] = [];
    for (const { prefix, source } of mirrors) {
      const place = formatMirrorPlace(path, prefix);
      const report = await verifyReceipts(source, settings);
      reports.push({ path: place, report: addFindings(report, checkName(readName(path, prefix), report)) });
      update({ done: reports.length, of: mirrors.length });
    }
    const lost = missing.map((name) => {
      const place = formatMirrorPlace(path, `${name}/`);
      return { path: place, report: addFindings(NO_RECEIPTS, [missingFinding(place)]) };
    });
    return [...reports, ...lost];
  });
}

const NO_RECEIPTS: ReceiptsReport = {
  schemaVersion: 1,
  kind: 'receipts',
  verdict: 'none',
  manifestHere: false,
  unlinked: 0,
  receipts: [],
  findings: [],
};

const addFindings = (report: ReceiptsReport, findings: readonly Finding[]): ReceiptsReport =>
  findings.length === 0
    ? report
    : { ...report, verdict: 'broken', findings: [...report.findings, ...findings] };

const readFolder = (prefix: string): string =>
  basename(prefix.endsWith(BAG_PAYLOAD) ? prefix.slice(0, -BAG_PAYLOAD.length) : prefix);

/** The name of a mirror in an archive, plain or a bag. A mirror outside an archive may have any name that is not an id. */
function readName(path: string, prefix: string): string | undefined {
  const folder = readFolder(prefix);
  if (folder !== '') return folder;
  const name = isS3Url(path) ? '' : basename(resolve(path));
  return evidenceExportIdSchema.safeParse(name).success ? name : undefined;
}

function formatMirrorPlace(path: string, prefix: string): string {
  if (prefix === '') return path;
  const [place = '', ...parameters] = isS3Url(path) ? path.split('?') : [path];
  return [`${place.replace(/\/$/, '')}/${prefix.slice(0, -1)}`, ...parameters].join('?');
}

/** A tree of mirrors. */
type ReceiptTree = {
  readonly source: EvidenceSource;
  /** The names of mirrors that should exist, and do not. */
  listMissing(mirrors: readonly string[]): Promise<readonly string[]>;
  close(): Promise<void>;
};

async function listGone(archive: ScrubArchive, mirrors: readonly string[]): Promise<readonly string[]> {
  if (archive.single) return [];
  const names = archive.mirrors.filter((name) => !mirrors.includes(name));
  const views = await Promise.all(names.map((name) => archive.open(name).look()));
  return names.filter((_, at) => views[at]!.files.size === 0);
}

/** Opens a folder, a prefix in S3 or an export in a ZIP as a tree of mirrors. */
async function openReceiptTree(cli: Cli, path: string): Promise<ReceiptTree> {
  if (isS3Url(path) || (await isFolder(path))) {
    const volume = await openVolume(path, cli.env);
    return {
      source: volume.source(),
      listMissing: async (mirrors) =>
        closeAfter(await openScrubArchive(path, { env: cli.env }), (archive) => listGone(archive, mirrors)),
      close: () => volume.close(),
    };
  }
  const file = await openZipFile(await openFile(path), path, recognizeKind);
  if (file.kind === 'export') return { ...file, listMissing: () => Promise.resolve([]) };
  await file.close();
  throw new DrillproofError('receipt.NONE', `${path} contains no mirror`, { path });
}

const isFolder = async (path: string): Promise<boolean> =>
  (await awaitCall(path, 'read', stat(path))).isDirectory();

type MirrorReceipts = { readonly path: string; readonly report: ReceiptsReport };

const TAIL = `
A mirror cannot show that its newest receipts were removed. Store its head elsewhere,
and pass it with --expect-head DIGEST when you verify the mirror again.
`;

function formatVerified(mirrors: readonly MirrorReceipts[]): string {
  const last = mirrors.toSorted((a, b) => Number(isUnsound(a)) - Number(isUnsound(b)));
  const each = last.map(formatMirrorReceipts).join('\n');
  return `${each}${mirrors.length > 1 ? `\n${formatReceiptTotals(mirrors)}\n` : ''}${TAIL}`;
}

const isUnsound = ({ report }: MirrorReceipts): boolean => report.verdict !== 'sound';

function formatMirrorReceipts({ path, report }: MirrorReceipts): string {
  const { verdict, evidenceExportId, manifestDigest, head, receipts, findings } = report;
  const rows = findings
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, code, path: at = '', message }) => [severity, code, at, message]);
  const lines = alignFacts([
    [verdict === 'none' ? 'NO RECEIPTS' : verdict.toUpperCase(), path],
    ['export', evidenceExportId],
    ['manifest', manifestDigest],
    ['receipts', count(receipts.length)],
    ['head', head === undefined ? undefined : `${head.digest}, ${isoTime(head.finishedAtMs)}`],
  ]);
  const notes = findings
    .filter(({ severity }) => severity === 'info')
    .map(({ message }) => `note: ${escapeText(message)}\n`);
  return `${lines}${notes.join('')}${formatTable(['', 'CODE', 'WHERE', 'WHAT'], rows)}`;
}

function formatReceiptTotals(mirrors: readonly MirrorReceipts[]): string {
  const countVerdict = (verdict: ReceiptsReport['verdict']): string =>
    count(mirrors.filter(({ report }) => report.verdict === verdict).length);
  return `${countNoun(mirrors.length, 'mirror')}: ${countVerdict('sound')} sound, ${countVerdict('broken')} broken, ${countVerdict('unread')} unread, ${countVerdict('none')} without receipts`;
}

const formatReceipts = (mirrors: readonly MirrorReceipts[]): string =>
  mirrors
    .map(({ path, report }) => {
      const name = alignFacts([[report.evidenceExportId ?? 'mirror', path]]);
      const rows = report.receipts.map(formatReceiptRow);
      const heading = ['FINISHED', 'OUTCOME', 'FILES', 'FAILED', 'TOOL', 'DIGEST'];
      return `${name}${rows.length === 0 ? 'no receipts\n' : formatTable(heading, rows)}`;
    })
    .join('\n');

const formatReceiptRow = (line: ReceiptLine): string[] => [
  line.finishedAtMs === undefined ? '-' : isoTime(line.finishedAtMs),
  line.outcome ?? 'damaged',
  line.files === undefined ? '-' : count(line.files),
  line.failures === undefined ? '-' : count(line.failures),
  line.tool ?? '-',
  line.digest ?? '-',
];
