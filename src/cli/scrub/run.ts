import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { DrillproofError, hasCode } from '../../errors.ts';
import { INVENTORY } from '../../mirror/inventory.ts';
import type { MirrorClient } from '../../mirror/replica.ts';
import { openScrubArchive, type ScrubArchive } from '../../node/scrub-archive.ts';
import type { JobResult } from '../../node/queue/queue.ts';
import { mirrorScrubSchema } from '../../report/many/scrubs.ts';
import { decideOutcome, isError, toFaults } from '../../scrub/result.ts';
import type { MirrorScrub } from '../../report/many/scrubs.ts';
import { findingsOf } from '../../verify/finding.ts';
import { repairMirror } from '../../scrub/repair.ts';
import type { ScrubEvent, ScrubOptions } from '../../scrub/options.ts';
import { scrubMany } from '../../scrub/mirror.ts';
import type { Cli } from '../cli.ts';
import { readExportList } from '../shared/input/export-list.ts';
import { openProject } from '../shared/input/remote.ts';
import { openReplicas } from '../shared/input/replicas.ts';
import { readTrust } from '../shared/input/trust.ts';
import { loadSecondOpinion } from '../shared/input/verify.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { jobsOption, parseDigest, remoteOptions, TRUST } from '../shared/options/options.ts';
import {
  assertQueue,
  queueOptions,
  describePlace,
  type SharedRun,
  type SharedWork,
  shareWork,
  readJobError,
} from '../shared/options/queue.ts';
import { openReportSigning, REPORT_OUTPUT, REPORT_SIGNING } from '../shared/input/signing.ts';
import { parseDuration, usageError } from '../shared/options/values.ts';
import { type Progress, withProgress } from '../shared/output/progress.ts';
import { textfileOption, watchFailure } from '../shared/output/textfile.ts';
import { planOutputs } from '../shared/output/targets.ts';
import { readToolName } from '../shared/output/product.ts';
import { createTally, joinPath, listGauges, type ScrubProduct, type Tally, writeScrub } from './output.ts';

const [URL, PROJECT, ...REMOTE] = remoteOptions();
const SOURCE = '--repair-from source';

export const SCRUB = [
  ...REPORT_OUTPUT,
  ...TRUST,
  // Every scrub needs its own name, because the same mirrors are read again and again.
  ...queueOptions('--queue-name'),
  ...REPORT_SIGNING,
  textfileOption(),
  option('--for <duration>', 'start no further file after this time, such as 10m', parseDuration).conflicts(
    '--queue',
  ),
  option(
    '--older-than <duration>',
    'skip mirrors that were read within this time and have not changed, such as 30d',
    parseDuration,
  ),
  option(
    '--within <duration>',
    'read everything within this time, such as 90d: in each run a share for the time since the last one',
    parseDuration,
  ).conflicts('--older-than', '--queue'),
  option('--depth <depth>', 'digest compares every file with its digest; full reads every object')
    .choices(['digest', 'full'])
    .default('digest'),
  jobsOption('read this many files at once'),
  option('--second-opinion', 'at full depth: verify everything with a second implementation too'),
  option(
    '--journal <dir>',
    'folder of the journal (default: .drillproof/scrub next to the mirrors)',
  ).conflicts('--queue'),
  option(
    '--repair-from <place>',
    'replace damaged files from this archive or mirror, or from the control plane: source',
  ),
  option('--expect-manifest <digest>', 'require this SHA-256 of the manifest of the mirror', parseDigest),
  option(
    '--expect-list <file>',
    'with --repair-from: require these SHA-256 of manifests, a line for each export; - for standard input',
  ).needs('--repair-from'),
  option(
    '--pin <record>',
    'with --repair-from: if no digest and no trusted key decides, take the manifest on which inventory, receipts and SHA256SUMS agree',
  )
    .choices(['inventory'])
    .needs('--repair-from'),
  URL.onlyWith(SOURCE),
  PROJECT,
  ...REMOTE.map((each) => each.onlyWith(SOURCE)),
];
type ScrubCommandOptions = OptionsOf<typeof SCRUB>;

export async function scrub(cli: Cli, place: string, options: ScrubCommandOptions): Promise<void> {
  let tally: Tally | undefined;
  const gauges = () => (tally === undefined ? {} : listGauges(tally.totals));
  await watchFailure(cli, { file: options.textfile, command: 'scrub', gauges }, () =>
    scrubPlace(cli, place, options, (archive) => (tally = createTally(archive))),
  );
}

async function scrubPlace(
  cli: Cli,
  place: string,
  options: ScrubCommandOptions,
  openTally: (archive: ScrubArchive) => Tally,
): Promise<void> {
  const { journal, jobs, textfile } = options;
  const outputs = await planOutputs(cli, options);
  const sign = await openReportSigning(cli, options, outputs);
  assertQueue(options, place);
  const stop = new AbortController();
  const settings = await readScrubOptions(
    { ...cli, signal: AbortSignal.any([cli.signal, stop.signal]) },
    options,
  );
  const { expectList } = options;
  const listed = expectList === undefined ? undefined : await readExportList(cli, expectList);
  const repairs = await openRepairs(cli, options);
  const archive = await openScrubArchive(place, { env: cli.env, jobs, ...defined({ journal }) });
  try {
    if (archive.mirrors.length === 0)
      throw new DrillproofError('scrub.NOTHING_FOUND', `${place} contains no mirror`, { path: place });
    if (options.expectManifest !== undefined && !archive.single)
      throw usageError('--expect-manifest is about one mirror', 'Name the folder or prefix of that mirror.');
    const digests = [...(listed ?? [])].flatMap(([id, digest]) =>
      digest === undefined ? [] : [[id, digest] as const],
    );
    const tally = openTally(archive);
    const work = { place, archive, settings, repairs, stop, tally, expectManifests: new Map(digests) };
    const totals = await scrubAll(cli, work, options);
    await writeScrub(cli, totals, place, {
      outputs,
      ...(textfile !== undefined && { oldestReadMs: await findOldest(archive) }),
      ...defined({ sign, textfile }),
    });
  } finally {
    await repairs?.close();
    await archive.close();
  }
}

/** Finds when the mirror was read that was read longest ago; 0 if one was never read. */
async function findOldest(archive: ScrubArchive): Promise<number> {
  const times = await archive.readTimes();
  return archive.mirrors.reduce((oldest, name) => Math.min(oldest, times.get(name) ?? 0), Infinity);
}

type ScrubWork = {
  readonly place: string;
  readonly archive: ScrubArchive;
  readonly settings: ScrubOptions;
  readonly repairs: Repairs | undefined;
  readonly stop: AbortController;
  readonly tally: Tally;
  readonly expectManifests: ReadonlyMap<string, string>;
};

const scrubAll = (cli: Cli, work: ScrubWork, options: ScrubCommandOptions): Promise<ScrubProduct> =>
  withProgress(cli, 'scrubbed', 'mirrors', async (progress) => {
    const { totals, add } = work.tally;
    const { inventoryFault } = work.archive;
    if (inventoryFault !== undefined) add(reportInventory(inventoryFault));
    const scrubSome = createScrubber(work, options, progress);
    try {
      if (options.queue !== undefined)
        return { ...totals, run: await scrubShared(cli, work, options, { scrubSome, add }) };
      await scrubSome(work.archive.mirrors, add);
      return totals;
    } catch (error) {
      throw withAdvice(error);
    }
  });

/** A damaged inventory is reported like a damaged mirror, and the mirrors are read without it. */
function reportInventory(error: DrillproofError): MirrorScrub {
  const faults = toFaults(findingsOf(error, 'export', ''), '').map((fault) => ({ ...fault, path: '' }));
  return { name: INVENTORY, outcome: decideOutcome(faults, 0), ...NOTHING, faults };
}

type AddScrub = (result: MirrorScrub) => void;
type ScrubSome = (mirrors: readonly string[], add: AddScrub) => Promise<void>;

function createScrubber(
  { archive, settings, repairs, expectManifests }: ScrubWork,
  { project, pin }: ScrubCommandOptions,
  progress: Progress,
): ScrubSome {
  let [done, bytes] = [0, 0];
  const onProgress = (event: ScrubEvent): void => {
    if (event.type !== 'read') return;
    bytes += event.bytes;
    progress.update({ done, of: archive.mirrors.length, bytes });
  };
  const repair = { ...settings, expectManifests, ...defined({ projectId: project, pin }) };
  return (mirrors, add) =>
    scrubMany(
      { mirrors, open: (name) => archive.open(name) },
      { ...settings, onProgress },
      async (result, at) => {
        printFaults(progress, result);
        add(
          repairs === undefined
            ? result
            : await repairMirror(at, result, () => repairs.clientFor(result.name), repair),
        );
        done++;
      },
    );
}

/** Describes the settings that must be equal on all machines of a run. */
const describePolicy = ({ tool, depth = 'digest', trust, secondOpinion, olderThanMs = 0 }: ScrubOptions) => ({
  tool,
  depth,
  trust: trust?.fingerprint ?? null,
  secondOpinion: secondOpinion !== undefined,
  olderThanMs,
});

/** Adds advice to io.READ_ONLY, because a scrub writes nothing but its journals. */
function withAdvice(error: unknown): unknown {
  if (!hasCode(error, 'io.READ_ONLY')) return error;
  const { code, message, path } = error;
  const details = { hint: 'Name a writable folder for the journals with --journal.' };
  return new DrillproofError(code, message, { details, cause: error, ...defined({ path }) });
}

function printFaults(progress: Progress, { name, faults }: MirrorScrub): void {
  for (const { found, path, code, acknowledged } of faults.slice(0, 10))
    if (isError({ code }) && acknowledged === undefined)
      progress.note(`${found}: ${joinPath(name, path)}: ${code}`);
}

async function readScrubOptions(cli: Cli, options: ScrubCommandOptions): Promise<ScrubOptions> {
  const { olderThan, within, depth, jobs, expectManifest } = options;
  return {
    tool: await readToolName(),
    depth,
    jobs,
    signal: cli.signal,
    now: cli.now,
    ...defined({
      trust: await readTrust(cli, options),
      expectManifest,
      secondOpinion: await loadSecondOpinion(options.secondOpinion),
      olderThanMs: olderThan,
      withinMs: within,
      untilMs: options.for && cli.now() + options.for,
    }),
  };
}

type Repairs = {
  clientFor(name: string): Promise<MirrorClient>;
  close(): Promise<void>;
};

async function openRepairs(cli: Cli, options: ScrubCommandOptions): Promise<Repairs | undefined> {
  const { repairFrom } = options;
  if (repairFrom === 'source') {
    const hint = 'Name the control plane with --url URL and --project ID.';
    const { client } = await openProject(cli, options, hint);
    return { clientFor: () => Promise.resolve(client), close: () => Promise.resolve() };
  }
  if (repairFrom === undefined) return undefined;
  const replicas = await openReplicas(cli, repairFrom);
  return { clientFor: async (name) => (await replicas.open(name)).client, close: () => replicas.close() };
}

async function scrubShared(
  cli: Cli,
  { place, archive, settings, stop }: ScrubWork,
  options: ScrubCommandOptions,
  { scrubSome, add }: { readonly scrubSome: ScrubSome; readonly add: AddScrub },
): Promise<SharedRun> {
  const policy = { ...describePolicy(settings), repairFrom: options.repairFrom ?? null };
  const work: SharedWork = {
    kind: 'scrub',
    facts: { place: describePlace(place), policy },
    items: archive.mirrors.map((name) => ({ key: name, data: { mirror: name } })),
    async act({ mirror = '' }) {
      const results: MirrorScrub[] = [];
      await scrubSome([mirror], (result) => results.push(result));
      return { scrub: results[0]! };
    },
    atOnce: 1,
    stop,
  };
  const { run, results } = await shareWork(cli, work, options);
  for (const result of results.map(readScrub).toSorted(compareNames)) add(result);
  return run;
}

const NOTHING = { files: 0, read: 0, readBytes: 0, recent: 0, unread: 0, unreadBytes: 0 };

const outputSchema = z.object({ scrub: mirrorScrubSchema });

function readScrub(result: JobResult): MirrorScrub {
  const name = result.data['mirror'] ?? '';
  if (result.state === 'done') return outputSchema.parse(result.output).scrub;
  if (result.state === 'waiting' || result.state === 'active')
    return { name, outcome: 'unread', ...NOTHING, faults: [] };
  const { code, message } = readJobError(result);
  return {
    name,
    outcome: 'unreadable',
    ...NOTHING,
    faults: [{ path: '', found: 'unreadable', code, message }],
  };
}

const compareNames = (a: MirrorScrub, b: MirrorScrub): number => (a.name < b.name ? -1 : 1);
