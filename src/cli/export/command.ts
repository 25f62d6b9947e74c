import { count } from '../../bytes/text/wording.ts';
import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { parseTime, SCOPE, STANDARD } from '../shared/options/options.ts';
import { signingOptions, readSigning } from '../shared/input/signing.ts';
import { parseReportSpec, readReportFacts } from '../shared/input/local-report.ts';
import { once as onceEmitted } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { closeAfter, once } from '../../bytes/async.ts';
import { createDigester } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import { type ExportInput, type PackedExport, packExport } from '../../evidence/export/pack-export.ts';
import { type PartFacts, readPartFacts } from '../../evidence/bundle/part.ts';
import { newId } from '../../node/fs-errors.ts';
import { openFile } from '../../node/evidence/file-access.ts';
import { writeNewFile } from '../../node/durable-file.ts';
import { zipExport } from '../../node/evidence/yazl-export.ts';
import { readFileBytes, withFileName } from '../shared/input/input.ts';
import { usageError } from '../shared/options/values.ts';
import { writeOutputFile, writeOutputFolder } from '../shared/output/output-file.ts';
import { writeFacts } from '../shared/output/product.ts';

const EXPORT = [
  ...STANDARD,
  option('--out <path>', 'write this folder, or this file if the name ends in .zip').required(),
  option(
    '--report <spec>',
    'add a local report: FILE[,meta=META.json][,project=ID]',
    parseReportSpec,
  ).repeat(),
  SCOPE,
  option('--from <time>', 'start of the window (default: first creation)', parseTime),
  option('--through <time>', 'end of the window, exclusive (default: after the last creation)', parseTime),
  option('--id <id>', 'id of the export (default: a new id)'),
  option('--requested-by <name>', 'who asked for the export').default('drillproof export'),
  ...signingOptions('the list of bundles'),
  option('--force', 'replace an existing ZIP'),
];
type ExportOptions = OptionsOf<typeof EXPORT>;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Put parts and local reports into an export: a folder or one ZIP.')
    .argument('<part...>', 'part archives, as "drillproof pack" writes them')
    .perform(EXPORT, (options, parts: readonly string[]) => exportParts(cli, parts, options))
    .examples({
      'a folder': 'drillproof export part-1.zip part-2.zip --out ./export --key key.pem --issuer acme-ci',
      'one file, with a local report': 'drillproof export part-1.zip --report local.zip --out export.zip',
      'of one project and one month':
        'drillproof export part-1.zip --scope project --from 2026-11-01 --through 2026-12-01 --out ./export',
    })
    .addHelpText('after', MORE);
}

const MORE = `
--out NAME.zip writes one file, any other name a folder. A local report is an
archive uploaded by a user. META.json has the claims of its uploader, in the
form that "drillproof admin ingest local-report" takes. Without it they are read
from the manifest.json of the report, if any, and the time is that of the file.

With --key or --signer the list of bundles is attested, so that a missing bundle
is detected.`;

async function exportParts(cli: Cli, paths: readonly string[], options: ExportOptions): Promise<void> {
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
  const packed = await packExport(
    describeExport(cli, options, { parts, localReports, onlyProject }),
    signing,
  );
  const files = listExportFiles(packed, filesByDigest, cli.signal);
  if (options.out.endsWith('.zip')) await writeExportZip(cli, options.out, files, options.force === true);
  else await writeExportFolder(options.out, files);
  await writePacked(cli, packed, options.out);
}

const readPart = async (path: string): Promise<PartFacts> =>
  closeAfter(await openFile(path), (access) =>
    readPartFacts(access).catch((error: unknown) =>
      withFileName(path, () => {
        throw error;
      }),
    ),
  );

type Contents = Pick<ExportInput, 'parts' | 'localReports'> & { readonly onlyProject: string | undefined };

function describeExport(
  cli: Cli,
  options: ExportOptions,
  { parts, localReports, onlyProject }: Contents,
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
        : { kind: 'project', projectId: requireProject(onlyProject) },
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

function requireProject(onlyProject: string | undefined): string {
  if (onlyProject !== undefined) return onlyProject;
  throw usageError(
    'the parts belong to several projects',
    'Omit --scope project, or name the parts of one project.',
  );
}

async function writePacked(cli: Cli, packed: PackedExport, path: string): Promise<void> {
  const { manifestDigest, attestation } = packed;
  const { evidenceExportId, parts, localReports } = packed.manifest;
  const [bundles, reports] = [parts.length, localReports.length];
  const { issuer, keyId } = attestation?.statement ?? {};
  await writeFacts(
    cli,
    {
      kind: 'packed-export',
      evidenceExportId,
      path,
      manifestDigest,
      bundles,
      localReports: reports,
      attested: attestation !== undefined,
    },
    [
      ['export', evidenceExportId],
      ['written to', path],
      ['manifest', manifestDigest],
      ['bundles', count(bundles)],
      ['local reports', count(reports)],
      ['list signed by', attestation === undefined ? 'no key' : `${issuer}, key ${keyId}`],
    ],
  );
}

type ExportFile = {
  readonly path: string;
  readonly bytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;
};

export function listExportFiles(
  packed: PackedExport,
  filesByDigest: ReadonlyMap<string, string>,
  signal: AbortSignal,
): readonly ExportFile[] {
  const { documents, manifest } = packed;
  const archives = [...manifest.parts, ...manifest.localReports].map(({ path, digest, bytes }) => {
    const file = filesByDigest.get(digest);
    if (file === undefined) throw new DrillproofError('internal.BUG', `no file for ${path}`);
    return { path, bytes: Number(bytes), open: () => readUnchanged(file, digest, signal) };
  });
  return [
    ...documents.map(({ path, bytes }) => ({ path, bytes: bytes.length, open: () => once(bytes) })),
    ...archives,
  ];
}

/** Reads a file, and fails if its digest has changed. */
async function* readUnchanged(file: string, digest: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const sum = createDigester();
  for await (const chunk of readFileBytes(file, signal)) {
    sum.update(chunk);
    yield chunk;
  }
  if (sum.digest() !== digest)
    throw new DrillproofError('io.CHANGED', `${file} changed while it was being read`, { path: file });
}

export async function writeExportFolder(folder: string, files: readonly ExportFile[]): Promise<void> {
  await writeOutputFolder(folder, async (temporary) => {
    for (const { path, open } of files) {
      await mkdir(dirname(join(temporary, path)), { recursive: true });
      await writeNewFile(join(temporary, path), open());
    }
  });
}

export async function writeExportZip(
  cli: Cli,
  path: string,
  files: readonly ExportFile[],
  force: boolean,
): Promise<void> {
  const pass = new PassThrough();
  const zipped = zipExport(files, pass);
  zipped.catch(() => undefined); // awaited below
  try {
    await writeOutputFile(cli, path, pass, { force });
  } catch (cause) {
    if (!pass.destroyed) {
      pass.destroy();
      await onceEmitted(pass, 'close');
    }
    if (cause instanceof DrillproofError) throw cause;
    await zipped; // throws the cause
    throw cause;
  }
  await zipped;
}
