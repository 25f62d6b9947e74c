import type { Command } from 'commander';
import type { Digest } from '../../bytes/hash.ts';
import { mirrorExport } from '../../mirror/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../input.ts';
import { followMirror } from '../mirror-progress.ts';
import { sinkOf, sinkOptions, type SinkOptions } from '../mirror-sink.ts';
import { receiptText } from '../mirror-text.ts';
import { digest, examples, standardOptions, wholeNumber } from '../options.ts';
import { writeProduct } from '../product.ts';
import { createProgress } from '../progress.ts';
import { openRemote, remoteOptions, type RemoteOptions } from '../remote.ts';
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
      'as a BagIt bag, for an archive that takes bags',
      'drillproof mirror evexp_0123456789ab --project prj_0123456789ab --url http://127.0.0.1:8080 --to ./bag --bagit',
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
  const tool = `drillproof/${await ownVersion()}`;
  const progress = createProgress(cli, 'mirrored', 'files');
  try {
    const receipt = await mirrorExport(
      { projectId: options.project, evidenceExportId },
      {
        client,
        to: await sinkOf(cli, options.to, options, { tool, evidenceExportId }),
        concurrency: options.concurrency,
        withoutLocalReports: options.withoutLocalReports === true,
        tool,
        signal: cli.signal,
        now: cli.now,
        onProgress: followMirror(progress),
        ...(manifest !== undefined && { manifest }),
        ...(options.expectManifest !== undefined && { expectManifest: options.expectManifest }),
      },
    );
    progress.end();
    await writeProduct(cli, { ...receipt }, receiptText(receipt, options.to, options));
  } finally {
    progress.end();
  }
}
