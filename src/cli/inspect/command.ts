import { join } from 'node:path';
import type { Command } from 'commander';
import { didYouMean, isoTime } from '../../bytes/index.ts';
import type { Attestation, ExportAttestation } from '../../contract/index.ts';
import type { EvidenceSource } from '../../evidence/index.ts';
import { openEvidence } from '../../node/index.ts';
import { isS3Url, parseS3Location, s3Name } from '../../node/s3/index.ts';
import { count, shortId, size } from '../../report/index.ts';
import { say, type Cli } from '../cli.ts';
import {
  readExportDocuments,
  readListedPart,
  readPartDocuments,
  type ExportDocuments,
  type PartDocuments,
} from './documents.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { shellWord, writeSignatureFiles } from '../shared/input/signature-files.ts';
import { facts, table } from '../shared/output/table.ts';
import { trustOptions, type TrustOptions } from '../shared/options/trust.ts';
import { readTrust } from '../shared/options/trusting.ts';
import { usageError } from '../shared/options/usage.ts';

type Options = TrustOptions & {
  readonly bundle?: string;
  readonly exportSignature?: boolean;
  readonly out?: string;
};

const MORE = `
Nothing is verified. Use "drillproof verify" for a verdict.

--export-signature writes statement.json (the signed bytes), signature.der and,
with --trust or --key, key.pem. It prints the openssl command that verifies
them. For an export it takes the signature of the list; with --bundle, that of
one bundle.`;

export function define(command: Command, cli: Cli): void {
  trustOptions(standardOptions(command))
    .description(
      'Show the contents of an export or part without verifying it, or write a signature as files for openssl.',
    )
    .argument('<path>', 'folder, s3://bucket/prefix or ZIP of an export, or a part')
    .option('--bundle <id>', 'show this bundle of the export')
    .option('--export-signature', 'write the signed bytes, the signature and the key as files')
    .option('--out <dir>', 'with --export-signature: write the files to this folder (default: ID.signature)')
    .action((path: string, options: Options) => inspect(cli, path, options));
  examples(command, [
    ['show a mirror', 'drillproof inspect ./mirror'],
    ['show one bundle of it', 'drillproof inspect ./mirror --bundle evidence_0123456789ab'],
    [
      'verify the signature of the list with openssl',
      'drillproof inspect --export-signature ./mirror --trust trust.json --out ./signature',
    ],
  ]).addHelpText('after', MORE);
}

async function inspect(cli: Cli, path: string, options: Options): Promise<void> {
  if (options.out !== undefined && options.exportSignature !== true) {
    throw usageError('--out needs --export-signature', 'Add --export-signature, or remove --out.');
  }
  const evidence = await openEvidence(path, cli.env);
  try {
    if (evidence.kind === 'part') {
      if (options.bundle !== undefined)
        throw usageError(`--bundle needs an export, but ${path} is a single part`);
      await showPart(
        cli,
        path,
        await readPartDocuments(evidence.access),
        options,
        isS3Url(path) ? undefined : `unzip -p ${shellWord(path)} manifest.json`,
      );
    } else {
      await inspectExport(cli, path, evidence.source, options);
    }
  } finally {
    await evidence.close();
  }
}

/** A command that writes the manifest of an export; `undefined` where it takes more than one. */
function commandFor(path: string, kind: EvidenceSource['kind']): string | undefined {
  if (kind === 'directory') return `cat ${shellWord(join(path, 'manifest.json'))}`;
  if (kind === 's3') return `aws s3 cp ${s3Words(path, 'manifest.json')} -`;
  return isS3Url(path) ? undefined : `unzip -p ${shellWord(path)} manifest.json`;
}

/** A file below an address in S3, as the command `aws` takes it. */
function s3Words(address: string, file: string): string {
  const location = parseS3Location(address, { name: 'the address in S3', code: 'usage.INVALID' });
  const { endpoint } = location;
  const words = shellWord(s3Name(location) + file);
  return endpoint === undefined ? words : `${words} --endpoint-url ${shellWord(endpoint)}`;
}

async function inspectExport(
  cli: Cli,
  path: string,
  source: EvidenceSource,
  options: Options,
): Promise<void> {
  const documents = await readExportDocuments(source);
  const inFolder = source.kind === 'directory';
  if (options.bundle !== undefined) {
    const row = partRow(documents, options.bundle);
    const part = await readListedPart(source, row.path);
    const manifest = inFolder ? `unzip -p ${shellWord(join(path, row.path))} manifest.json` : undefined;
    return showPart(cli, path, part, options, manifest);
  }
  if (options.exportSignature !== true) return showExport(cli, documents);
  const { attestation, manifest } = documents;
  if (attestation === undefined) {
    throw usageError(
      `the list of bundles in ${path} is not signed`,
      'Pass --bundle ID to write the signature of one bundle.',
    );
  }
  const command = commandFor(path, source.kind);
  await exportSignature(cli, attestation, options, manifest.evidenceExportId, command);
}

function partRow({ manifest }: ExportDocuments, id: string) {
  const row = manifest.parts.find((part) => part.evidenceBundleId === id);
  if (row !== undefined) return row;
  const ids = manifest.parts.map((part) => part.evidenceBundleId);
  throw usageError(
    `the export lists no bundle ${id}`,
    didYouMean(id, ids) ?? 'Run "drillproof inspect" on it for the ids.',
  );
}

async function exportSignature(
  cli: Cli,
  attestation: Attestation | ExportAttestation,
  options: Options,
  id: string,
  manifestCommand: string | undefined,
): Promise<void> {
  const folder = options.out ?? `${id}.signature`;
  const files = await writeSignatureFiles(folder, attestation, await readTrust(cli, options));
  const { issuer, keyId, issuedAtMs, subject } = attestation.statement;
  const lines = facts([
    ['statement', files.statementPath],
    ['signature', files.signaturePath],
    ['public key', files.keyPath ?? 'not written: pass it with --trust or --key; evidence never supplies it'],
    ['issuer', issuer],
    ['key id', keyId],
    ['issued at', isoTime(issuedAtMs)],
    ['manifest', subject.manifestDigest],
  ]);
  const compare =
    manifestCommand === undefined
      ? ''
      : `\nCompare the digest in the statement with the manifest:\n  ${manifestCommand} | sha256sum\n`;
  const product = {
    kind: 'signature-files',
    id,
    ...files,
    issuer,
    keyId,
    issuedAtMs,
    manifestDigest: subject.manifestDigest,
  };
  await writeProduct(
    cli,
    product,
    `${lines}\nVerify the signature without drillproof:\n  ${files.command}\n${compare}`,
  );
  if (files.keyPath === undefined)
    await say(cli, 'no key was written: pass --trust FILE or --key FILE,issuer=NAME');
}

async function showExport(cli: Cli, documents: ExportDocuments): Promise<void> {
  const { manifest, manifestDigest, resource, attestation, files } = documents;
  const { parts, localReports } = manifest;
  const listed = new Set([...parts, ...localReports].map((row) => row.path));
  const others = files.filter((file) => !listed.has(file.path));
  const text = [
    facts([
      ['export', manifest.evidenceExportId],
      ['organization', manifest.organizationId],
      ['scope', manifest.scope.kind === 'project' ? `project ${manifest.scope.projectId}` : 'organization'],
      ['from', isoTime(manifest.fromAtMs)],
      ['through', isoTime(manifest.throughAtMs)],
      ['state', resource?.state ?? 'unknown: there is no export.json'],
      ['manifest', manifestDigest],
      ['list signed by', signerOf(attestation)],
      ['bundles', count(parts.length)],
      ['local reports', count(localReports.length)],
    ]),
    table(
      ['#', 'BUNDLE', 'PROJECT', 'BYTES', 'SIGNED', 'ARCHIVE'],
      parts.map((row) => [
        String(row.ordinal),
        row.evidenceBundleId,
        row.projectId,
        row.bytes,
        row.signed ? 'yes' : 'no',
        shortId(row.digest),
      ]),
    ),
    table(
      ['#', 'LOCAL REPORT', 'PROJECT', 'BYTES', 'ARCHIVE'],
      localReports.map((row) => [
        String(row.ordinal),
        row.localReportId,
        row.projectId,
        row.bytes,
        shortId(row.digest),
      ]),
    ),
    table(
      ['OTHER FILE', 'BYTES'],
      others.map((file) => [file.path, String(file.bytes)]),
    ),
  ];
  const rest = { otherFiles: others.map(({ path, bytes }) => ({ path, bytes })) };
  const signed = { ...(resource && { resource }), ...(attestation && { attestation }) };
  await writeProduct(
    cli,
    { kind: 'export-contents', manifestDigest, manifest, ...signed, ...rest },
    joined(text),
  );
}

async function showPart(
  cli: Cli,
  path: string,
  { manifest, manifestDigest, attestation }: PartDocuments,
  options: Options,
  manifestCommand: string | undefined,
): Promise<void> {
  if (options.exportSignature === true) {
    if (attestation === undefined)
      throw usageError(`${manifest.evidenceBundleId} in ${path} is unsigned`, 'Choose a signed bundle.');
    return exportSignature(cli, attestation, options, manifest.evidenceBundleId, manifestCommand);
  }
  const subject = attestation?.statement.subject;
  const text = [
    facts([
      ['bundle', manifest.evidenceBundleId],
      ['organization', manifest.organizationId],
      ['project', manifest.projectId],
      ['hosted run', manifest.hostedRunId],
      ['rerun of', manifest.rerunOfHostedRunId],
      ['run', manifest.runId],
      ['created at', isoTime(manifest.createdAtMs)],
      ['manifest', manifestDigest],
      ['signed by', signerOf(attestation)],
      ['drill', subject?.reproduction.drillId],
      ['target', subject?.reproduction.targetId],
    ]),
    table(
      ['OBJECT', 'ROLE', 'MEDIA TYPE', 'SIZE', 'DIGEST'],
      manifest.objects.map((object) => [
        object.path,
        object.role ?? '',
        object.mediaType,
        size(object.bytes),
        shortId(object.digest),
      ]),
    ),
  ];
  await writeProduct(
    cli,
    { kind: 'part-contents', manifestDigest, manifest, ...(attestation && { attestation }) },
    joined(text),
  );
}

const joined = (blocks: readonly string[]): string => blocks.filter((block) => block !== '').join('\n');

function signerOf(attestation: Attestation | ExportAttestation | undefined): string {
  if (attestation === undefined) return 'nobody';
  const { issuer, keyId, issuedAtMs } = attestation.statement;
  return `${issuer}, key ${keyId}, ${isoTime(issuedAtMs)} (not checked)`;
}
