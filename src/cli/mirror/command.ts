import { defined } from '../../bytes/arguments.ts';
import { closeAfter } from '../../bytes/async.ts';
import type { ExportRef } from '../../client/client.ts';
import type { ExportList, Wish } from '../../mirror/archive.ts';
import { checkMirror, type MirrorCheck } from '../../mirror/check.ts';
import { INVENTORY, InventoryLog } from '../../mirror/inventory.ts';
import { convertReadErrors, type MirrorClient } from '../../mirror/replica.ts';
import { EXPORT_RESOURCE } from '../../evidence/export/pack-export.ts';
import { mirrorExport } from '../../mirror/mirror.ts';
import type { MirrorOptions } from '../../mirror/run.ts';
import { openVolume } from '../../node/open-volume.ts';
import { type Cli, printNotes } from '../cli.ts';
import { openProject } from '../shared/input/remote.ts';
import { formatAddress, openReplicas, readExportRef } from '../shared/input/replicas.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { readToolName, writeProduct } from '../shared/output/product.ts';
import { withProgress } from '../shared/output/progress.ts';
import { watchFailure } from '../shared/output/textfile.ts';
import { openEvents } from './events.ts';
import { listTransfer, mirrorEach, type MirrorEach, type MirrorWatch } from './many.ts';
import { assertComplete, describeTransfer, formatIncomplete, formatReceipt, writeCheck } from './output.ts';
import { type MirrorCommandOptions, mirrorOptions } from './options.ts';
import { followCheck, followMirror, MirrorTally } from './progress.ts';
import { assertOneSelection, openSetting } from './setting.ts';

const MORE = `
After an interruption, run the same command again to resume it.`;

const PLANE = '--project prj_0123456789ab --url http://127.0.0.1:8080';
const ID = 'evexp_0123456789ab';

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Copy exports from a control plane, and verify every byte by its digest.')
    .argument('[export]', 'id of the export')
    .perform(mirrorOptions(cli.now), (options, evidenceExportId: string | undefined) =>
      mirror(cli, evidenceExportId, options),
    )
    .examples({
      'mirror an export': `drillproof mirror ${ID} ${PLANE} --to ./mirror`,
      'into a bucket, retained for years': `drillproof mirror ${ID} ${PLANE} --to s3://archive/${ID} --s3-retain-until 2033-01-01`,
      'every export of a project, each into its own folder': `drillproof mirror --all ${PLANE} --to ./archive --store ./store`,
      'copy or restore an archive': 'drillproof mirror --all --from s3://archive/exports --to ./archive',
      'together with any number of machines that run the same line': `drillproof mirror --all ${PLANE} --to s3://archive/exports --queue postgres://drill@db.example/queue`,
    })
    .addHelpText('after', MORE);
}

async function mirror(
  cli: Cli,
  evidenceExportId: string | undefined,
  options: MirrorCommandOptions,
): Promise<void> {
  assertOneSelection(evidenceExportId, options);
  const totals = new MirrorTally();
  const gauges = () => listTransfer(describeTransfer(totals));
  await watchFailure(cli, { file: options.textfile, command: 'mirror', gauges }, async () => {
    const origin = await openOrigin(cli, evidenceExportId, options);
    try {
      await mirrorOrigin(cli, origin, options, totals);
    } finally {
      await origin.close?.();
    }
  });
}

type Source = { readonly client: MirrorClient; readonly exportRef: ExportRef };
type Origin = { readonly baseUrl: string; close?(): Promise<void> } & (
  | Source
  | (ExportList & {
      readonly exportRef?: undefined;
      readonly project: string;
      readonly open: (wish: Wish) => Promise<Source>;
    })
);

async function openOrigin(
  cli: Cli,
  evidenceExportId: string | undefined,
  options: MirrorCommandOptions,
): Promise<Origin> {
  const { from } = options;
  if (from !== undefined) {
    const replicas = await openReplicas(cli, from, options.at);
    const open = async (id: string | undefined): Promise<Source> => {
      const replica = await replicas.open(id);
      const ref = defined({ evidenceExportId: id, projectId: options.project });
      return { client: replica.client, exportRef: await readExportRef(replica, ref) };
    };
    const close = () => replicas.close();
    if (options.list === undefined && options.all === undefined) {
      const source = await open(evidenceExportId);
      return { ...source, baseUrl: source.client.baseUrl, close };
    }
    return {
      baseUrl: formatAddress(from),
      project: options.project ?? '',
      exports: replicas.exports,
      open: ({ evidenceExportId: id }) => convertReadErrors(EXPORT_RESOURCE, () => open(id)),
      close,
    };
  }
  const hint = 'Name a control plane with --url URL and --project ID, or a second mirror with --from PLACE.';
  const { client, project } = await openProject(cli, options, hint);
  const { baseUrl } = client;
  if (evidenceExportId !== undefined)
    return { baseUrl, client, exportRef: { projectId: project, evidenceExportId } };
  const open = (exportRef: ExportRef) => Promise.resolve({ client, exportRef });
  return { baseUrl, project, exports: (...list) => client.exports(...list), open };
}

async function mirrorOrigin(
  cli: Cli,
  origin: Origin,
  options: MirrorCommandOptions,
  totals: MirrorTally,
): Promise<void> {
  const { baseUrl, exportRef } = origin;
  const stop = new AbortController();
  const signal = AbortSignal.any([cli.signal, stop.signal]);
  const setting = await openSetting({ ...cli, signal }, options);
  const watch: MirrorWatch = { events: openEvents(cli), totals };
  watch.events.write({ type: 'run-started', tool: await readToolName(), source: baseUrl });
  await reportEnd(watch, async () => {
    if (exportRef === undefined) {
      const mirrorOrCheck = selectWork(options);
      const each: MirrorEach = async (wish, to, onProgress) => {
        const source = await origin.open(wish);
        return mirrorOrCheck(source.exportRef, {
          ...(await setting(wish.evidenceExportId, to)),
          client: source.client,
          onProgress,
          ...defined({ expectManifest: wish.expectManifest }),
        });
      };
      return closeAfter(await openVolume(options.to, cli.env), async (volume) => {
        const archive = new InventoryLog(volume.log(INVENTORY), await readToolName(), cli.now);
        const settings = { source: origin, watch, each, stop, archive, volume };
        return mirrorEach(cli, { ...options, project: origin.project }, settings);
      });
    }
    watch.events.write({ type: 'exports', exports: 1 });
    const settings = { ...(await setting(exportRef.evidenceExportId, options.to)), client: origin.client };
    const mirrorOrCheck = options.check === true ? checkOne : mirrorOne;
    return mirrorOrCheck(cli, { exportRef, settings, watch }, options);
  });
}

function selectWork({ check, dryRun }: MirrorCommandOptions) {
  if (dryRun === true) return checkMirror;
  return check === true ? checkComplete : mirrorExport;
}

async function reportEnd({ events, totals }: MirrorWatch, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    events.close(totals, error);
    throw error;
  }
  events.close(totals);
}

type Single = {
  readonly exportRef: ExportRef;
  readonly settings: MirrorOptions;
  readonly watch: MirrorWatch;
};

async function checkOne(
  cli: Cli,
  { exportRef, settings, watch: { events } }: Single,
  { to }: MirrorCommandOptions,
): Promise<void> {
  const check = await withProgress(cli, 'checked', 'files', (progress) => {
    const onProgress = events.follow(exportRef.evidenceExportId, followCheck(progress));
    return checkMirror(exportRef, { ...settings, onProgress });
  });
  await writeCheck(cli, check, to);
}

async function checkComplete(exportRef: ExportRef, settings: MirrorOptions): Promise<MirrorCheck> {
  const check = await checkMirror(exportRef, settings);
  assertComplete(check);
  return check;
}

async function mirrorOne(
  cli: Cli,
  { exportRef, settings, watch: { events, totals } }: Single,
  options: MirrorCommandOptions,
): Promise<void> {
  const { evidenceExportId } = exportRef;
  try {
    const receipt = await withProgress(cli, 'mirrored', 'files', (progress) => {
      const onProgress = events.follow(evidenceExportId, followMirror(progress, totals, cli.now));
      return mirrorExport(exportRef, { ...settings, onProgress });
    });
    events.exportEnded(evidenceExportId, totals);
    await writeProduct(cli, { ...receipt }, formatReceipt(receipt, options.to, options, totals));
  } catch (error) {
    events.exportEnded(evidenceExportId, totals, error);
    if (totals.files > 0) await printNotes(cli, formatIncomplete(totals).trimEnd());
    throw error;
  }
}
