import { Option, type Command } from 'commander';
import {
  type ExportInput,
  type PackedExport,
  packExport,
  type PartFacts,
  readPartFacts,
} from '../../evidence/index.ts';
import { newId, openFile } from '../../node/index.ts';
import { count } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { exportFiles, writeExportFolder, writeExportZip } from './files.ts';
import { examples, many, standardOptions, time } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { readReportFacts, reportSpec, type ReportSpec } from '../report/input.ts';
import { readSigning, signingOptions, type SigningOptions } from '../shared/options/signing.ts';
import { facts } from '../shared/output/table.ts';
import { naming } from '../shared/options/trusting.ts';
import { usageError } from '../shared/options/usage.ts';

type Options = SigningOptions & {
  readonly out: string;
  readonly report?: readonly ReportSpec[];
  readonly scope: 'organization' | 'project';
  readonly from?: number;
  readonly through?: number;
  readonly id?: string;
  readonly requestedBy: string;
  readonly force?: boolean;
};

const MORE = `
--out NAME.zip writes one file, any other name a folder. A local report is an
archive uploaded by a user. META.json has the claims of its uploader, in the
form that "drillproof admin ingest local-report" takes. Without it they are read
from the manifest.json of the report, if any, and the time is that of the file.

With --key or --signer the list of bundles is attested, so that a missing bundle
is detected.`;

export function define(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Put parts and local reports into an export: a folder or one ZIP.')
    .argument('<part...>', 'part archives, as "drillproof pack" writes them')
    .requiredOption('--out <path>', 'write this folder, or this file if the name ends in .zip')
    .option(
      '--report <spec>',
      'add a local report: FILE[,meta=META.json][,project=ID] (repeatable)',
      many(reportSpec),
    )
    .addOption(
      new Option('--scope <scope>', 'scope of the export')
        .choices(['organization', 'project'])
        .default('organization'),
    )
    .option('--from <time>', 'start of the window (default: first creation)', time)
    .option('--through <time>', 'end of the window, exclusive (default: after the last creation)', time)
    .option('--id <id>', 'id of the export (default: a new id)')
    .option('--requested-by <name>', 'who asked for the export', 'drillproof export');
  signingOptions(command, 'the list of bundles')
    .option('--force', 'replace an existing ZIP')
    .action((parts: string[], options: Options) => run(cli, parts, options));
  examples(command, [
    ['a folder', 'drillproof export part-1.zip part-2.zip --out ./export --key key.pem --issuer acme-ci'],
    ['one file, with a local report', 'drillproof export part-1.zip --report local.zip --out export.zip'],
    [
      'of one project and one month',
      'drillproof export part-1.zip --scope project --from 2026-11-01 --through 2026-12-01 --out ./export',
    ],
  ]).addHelpText('after', MORE);
}

async function run(cli: Cli, paths: readonly string[], options: Options): Promise<void> {
  const signing = await readSigning(cli, options);
  const filesByDigest = new Map<string, string>();
  const parts: PartFacts[] = [];
  for (const path of paths) {
    const part = await readPart(path);
    filesByDigest.set(part.digest, path);
    parts.push(part);
  }
  const projects = [...new Set(parts.map(({ manifest }) => manifest.projectId))];
  const onlyProject = projects.length === 1 ? projects[0] : undefined;
  const localReports = [];
  for (const spec of options.report ?? []) {
    const report = await readReportFacts(cli, spec, onlyProject);
    filesByDigest.set(report.digest, spec.file);
    localReports.push(report);
  }
  const packed = await packExport(inputOf(cli, options, parts, localReports, onlyProject), signing);
  const files = exportFiles(packed, filesByDigest, cli.signal);
  if (options.out.endsWith('.zip')) await writeExportZip(options.out, files, options.force === true);
  else await writeExportFolder(options.out, files);
  await writeProduct(cli, productOf(packed, options.out), textOf(packed, options.out));
}

async function readPart(path: string): Promise<PartFacts> {
  const access = await openFile(path);
  try {
    return await readPartFacts(access).catch((error: unknown) =>
      naming(path, () => {
        throw error;
      }),
    );
  } finally {
    await access.close();
  }
}

function inputOf(
  cli: Cli,
  options: Options,
  parts: readonly PartFacts[],
  localReports: ExportInput['localReports'],
  onlyProject: string | undefined,
): ExportInput {
  const [first] = parts;
  if (first === undefined) throw usageError('no part is named');
  const times = [
    ...parts.map(({ manifest }) => manifest.createdAtMs),
    ...localReports.map((report) => report.createdAtMs),
  ];
  const nowMs = cli.now();
  return {
    evidenceExportId: options.id ?? newId('evexp'),
    organizationId: first.manifest.organizationId,
    scope:
      options.scope === 'organization'
        ? { kind: 'organization' }
        : { kind: 'project', projectId: projectOf(onlyProject) },
    fromAtMs: options.from ?? times.reduce((a, b) => Math.min(a, b)),
    throughAtMs: options.through ?? times.reduce((a, b) => Math.max(a, b)) + 1,
    operationId: newId('op'),
    requestedBy: options.requestedBy,
    createdAtMs: nowMs,
    completedAtMs: nowMs,
    parts,
    localReports,
  };
}

function projectOf(onlyProject: string | undefined): string {
  if (onlyProject !== undefined) return onlyProject;
  throw usageError(
    'the parts are of several projects',
    'Leave --scope project out, or name the parts of one project.',
  );
}

function productOf({ manifest, manifestDigest, attestation }: PackedExport, path: string) {
  return {
    kind: 'packed-export',
    evidenceExportId: manifest.evidenceExportId,
    path,
    manifestDigest,
    bundles: manifest.parts.length,
    localReports: manifest.localReports.length,
    attested: attestation !== undefined,
  };
}

function textOf({ manifest, manifestDigest, attestation }: PackedExport, path: string): string {
  return facts([
    ['export', manifest.evidenceExportId],
    ['written to', path],
    ['manifest', manifestDigest],
    ['bundles', count(manifest.parts.length)],
    ['local reports', count(manifest.localReports.length)],
    [
      'list signed by',
      attestation ? `${attestation.statement.issuer}, key ${attestation.statement.keyId}` : 'nobody',
    ],
  ]);
}
