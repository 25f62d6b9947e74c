import type { Command } from 'commander';
import type { Digest } from '../../bytes/hash.ts';
import { mirrorExport, type MirrorEvent, type MirrorReceipt } from '../../mirror/index.ts';
import { isS3Url } from '../../node/s3/location.ts';
import { count, counted, size } from '../../report/figures.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../input.ts';
import { sinkOf, sinkOptions, type SinkOptions } from '../mirror-sink.ts';
import { digest, examples, standardOptions, wholeNumber } from '../options.ts';
import { writeProduct } from '../product.ts';
import { createProgress, type Progress } from '../progress.ts';
import { openRemote, remoteOptions, type RemoteOptions } from '../remote.ts';
import { shellWord } from '../signature-files.ts';
import { facts } from '../table.ts';
import { ownVersion } from '../version.ts';

const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

type Options = RemoteOptions &
  SinkOptions & {
    readonly to: string;
    readonly concurrency: number;
    readonly expectManifest?: Digest;
    readonly manifest?: string;
    readonly withoutLocalReports?: boolean;
  };

const MORE = `
A file has its final name only when its bytes were proven, and manifest.json is
written last. Interrupt it anywhere and run the same command again: it goes on.
A mirror that is whole is checked again and left as it is.`;

export function define(command: Command, cli: Cli): void {
  sinkOptions(remoteOptions(standardOptions(command)))
    .description(
      'Bring every part and local report of an export here, exactly, and prove each by its digest.',
    )
    .argument('<export>', 'id of the export')
    .requiredOption(
      '--to <place>',
      'folder of the mirror or s3://bucket/prefix; a new one, or that of an earlier run',
    )
    .option('--concurrency <n>', 'files fetched at once', wholeNumber(1, 64), 4)
    .option('--expect-manifest <digest>', 'SHA-256 that the manifest must have, known from elsewhere', digest)
    .option(
      '--manifest <file>',
      'manifest of the export, where the control plane does not serve it; - for standard input',
    )
    .option('--without-local-reports', 'leave local reports out')
    .action((evidenceExportId: string, options: Options) => mirror(cli, evidenceExportId, options));
  examples(command, [
    [
      'mirror an export',
      'drillproof mirror evexp_0123456789ab --project prj_0123456789ab --url http://127.0.0.1:8080 --to ./mirror',
    ],
    [
      'into a bucket, retained for years',
      'drillproof mirror evexp_0123456789ab --project prj_0123456789ab --url http://127.0.0.1:8080 --to s3://archive/evexp_0123456789ab --s3-retain-until 2033-01-01',
    ],
    [
      'only if it is the one you were told of',
      'drillproof mirror evexp_0123456789ab --project prj_0123456789ab --url http://127.0.0.1:8080 --to ./mirror --token-file token --expect-manifest sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945',
    ],
  ]).addHelpText('after', MORE);
}

async function mirror(cli: Cli, evidenceExportId: string, options: Options): Promise<void> {
  const client = await openRemote(cli, options);
  const manifest =
    options.manifest === undefined ? undefined : await readInput(options.manifest, MAX_MANIFEST_BYTES, cli);
  const progress = createProgress(cli, 'mirrored', 'files');
  try {
    const receipt = await mirrorExport(
      { projectId: options.project, evidenceExportId },
      {
        client,
        to: await sinkOf(cli, options.to, options),
        concurrency: options.concurrency,
        withoutLocalReports: options.withoutLocalReports === true,
        tool: `drillproof/${await ownVersion()}`,
        signal: cli.signal,
        now: cli.now,
        onProgress: follow(progress),
        ...(manifest !== undefined && { manifest }),
        ...(options.expectManifest !== undefined && { expectManifest: options.expectManifest }),
      },
    );
    progress.end();
    await writeProduct(cli, { ...receipt }, textOf(receipt, options.to));
  } finally {
    progress.end();
  }
}

function follow(progress: Progress): (event: MirrorEvent) => void {
  const received = new Map<string, number>();
  let state = { done: 0, of: 0, bytes: 0, totalBytes: 0 };
  const show = (change: Partial<typeof state>): void => {
    state = { ...state, ...change };
    progress.update(state);
  };
  return (event) => {
    if (event.type === 'planned') {
      const { files, bytes, missingFiles, missingBytes } = event;
      show({ of: files, totalBytes: bytes, done: files - missingFiles, bytes: bytes - missingBytes });
    } else if (event.type === 'bytes') {
      const before = received.get(event.path) ?? 0;
      received.set(event.path, event.received);
      show({ bytes: state.bytes + event.received - before });
    } else if (event.type === 'part-done') {
      if (event.state !== 'kept') show({ done: state.done + 1 });
    } else if (event.type === 'retry') {
      progress.note(
        `again in ${(event.delayMs / 1000).toFixed(1)} s: ${event.path}: ${reasonOf(event.error)}`,
      );
    } else if (event.type === 'failed') {
      progress.note(`failed: ${event.path}: ${event.code}: ${event.message}`);
    }
  };
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'the connection failed';

function textOf(receipt: MirrorReceipt, folder: string): string {
  const { files, evidenceExportId, manifestDigest, withoutLocalReports } = receipt;
  const bytes = files.reduce((sum, file) => sum + Number(file.bytes), 0);
  const states = (['fetched', 'resumed', 'linked', 'kept'] as const)
    .map((state) => [state, files.filter((file) => file.state === state).length] as const)
    .filter(([, times]) => times > 0)
    .map(([state, times]) => `${count(times)} ${state}`);
  const lines = facts([
    ['mirrored', evidenceExportId],
    [isS3Url(folder) ? 'bucket' : 'folder', folder],
    ['manifest', manifestDigest],
    ['files', `${counted(files.length, 'file')}, ${size(bytes)} (${states.join(', ')})`],
    ['local reports', withoutLocalReports ? 'left out, as asked' : undefined],
  ]);
  const word = shellWord(folder);
  return `${lines}\nEvery byte has the digest that the manifest says. Who signed it, verify says:\n  drillproof verify ${word} --trust trust.json --expect-manifest ${manifestDigest}${isS3Url(folder) ? '' : `\nWithout this tool:\n  (cd ${word} && sha256sum -c SHA256SUMS)`}\n`;
}
