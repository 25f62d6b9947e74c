import { join } from 'node:path';
import { defined, didYouMean } from '../../bytes/index.ts';
import type { EvidenceSource } from '../../evidence/index.ts';
import type { OpenEvidence } from '../../node/index.ts';
import { isS3Url, parseS3Location, s3Name } from '../../node/index.ts';
import { shellWord } from '../../report/index.ts';
import { type Cli, say } from '../cli.ts';
import {
  type ExportDocuments,
  type PartDocuments,
  readExportDocuments,
  readListedPart,
  readPartDocuments,
  withEvidence,
} from '../shared/input/evidence.ts';
import { readTrust } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { writeProduct } from '../shared/output/product.ts';
import type { InspectOptions } from './command.ts';
import { describeExport, describePart, formatSignatureFiles } from './output.ts';
import { writeSignatureFiles } from './signature-files.ts';

type Subject = { readonly id: string; readonly manifestCommand?: string } & (
  | { readonly kind: 'part'; readonly documents: PartDocuments }
  | { readonly kind: 'export'; readonly documents: ExportDocuments }
);

export function inspect(cli: Cli, path: string, options: InspectOptions): Promise<void> {
  const { out, exportSignature = false } = options;
  if (out !== undefined && !exportSignature)
    throw usageError('--out needs --export-signature', 'Add --export-signature, or remove --out.');
  return withEvidence(cli, path, async (evidence) => {
    const subject = await readSubject(path, evidence, options);
    if (exportSignature) return writeSignature(cli, path, subject, options);
    const { product, text } =
      subject.kind === 'part' ? describePart(subject.documents) : describeExport(subject.documents);
    return writeProduct(cli, product, text);
  });
}

async function readSubject(
  path: string,
  evidence: OpenEvidence,
  { bundle }: InspectOptions,
): Promise<Subject> {
  if (evidence.kind === 'part') {
    if (bundle !== undefined) throw usageError(`--bundle needs an export, but ${path} is a single part`);
    const manifestCommand = isS3Url(path) ? undefined : unzipManifest(path);
    return partSubject(await readPartDocuments(evidence.access), manifestCommand);
  }
  const { source } = evidence;
  const documents = await readExportDocuments(source);
  if (bundle !== undefined) {
    const row = partRow(documents, bundle);
    const manifestCommand = source.kind === 'directory' ? unzipManifest(join(path, row.path)) : undefined;
    return partSubject(await readListedPart(source, row.path), manifestCommand);
  }
  const id = documents.manifest.evidenceExportId;
  return { kind: 'export', id, documents, ...defined({ manifestCommand: commandFor(path, source.kind) }) };
}

const partSubject = (documents: PartDocuments, manifestCommand: string | undefined): Subject => ({
  kind: 'part',
  id: documents.manifest.evidenceBundleId,
  documents,
  ...defined({ manifestCommand }),
});

const unzipManifest = (path: string): string => `unzip -p ${shellWord(path)} manifest.json`;

/** A command that writes the manifest of an export; `undefined` where it takes more than one. */
function commandFor(path: string, kind: EvidenceSource['kind']): string | undefined {
  if (kind === 'directory') return `cat ${shellWord(join(path, 'manifest.json'))}`;
  if (kind === 's3') return `aws s3 cp ${s3Words(path, 'manifest.json')} -`;
  return isS3Url(path) ? undefined : unzipManifest(path);
}

/** A file below an address in S3, as the command `aws` takes it. */
function s3Words(address: string, file: string): string {
  const location = parseS3Location(address, { name: 'the address in S3', code: 'usage.INVALID' });
  const { endpoint } = location;
  const words = shellWord(s3Name(location) + file);
  return endpoint === undefined ? words : `${words} --endpoint-url ${shellWord(endpoint)}`;
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

async function writeSignature(
  cli: Cli,
  path: string,
  { kind, id, documents: { attestation }, manifestCommand }: Subject,
  options: InspectOptions,
): Promise<void> {
  if (attestation === undefined)
    throw kind === 'part'
      ? usageError(`${id} in ${path} is unsigned`, 'Choose a signed bundle.')
      : usageError(
          `the list of bundles in ${path} is not signed`,
          'Pass --bundle ID to write the signature of one bundle.',
        );
  const folder = options.out ?? `${id}.signature`;
  const files = await writeSignatureFiles(folder, attestation, await readTrust(cli, options));
  const { issuer, keyId, issuedAtMs, subject } = attestation.statement;
  const { manifestDigest } = subject;
  await writeProduct(
    cli,
    { kind: 'signature-files', id, ...files, issuer, keyId, issuedAtMs, manifestDigest },
    formatSignatureFiles(files, attestation, manifestCommand),
  );
  if (files.keyPath === undefined)
    await say(cli, 'no key was written: pass --trust FILE or --key FILE,issuer=NAME');
}
