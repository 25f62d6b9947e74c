import { type Cli, printNote } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { STANDARD, TRUST } from '../shared/options/options.ts';
import { join } from 'node:path';
import { closeAfter } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import { didYouMean } from '../../bytes/text/wording.ts';
import { decodeSignatureBytes, encodeStatement } from '../../evidence/bundle/attestation.ts';
import { type PartContents, readPartContents } from '../../evidence/bundle/contents.ts';
import type { OpenEvidence } from '../../node/open-evidence.ts';
import { writeNewFile } from '../../node/durable-file.ts';
import { quoteShellWord } from '../../report/printable.ts';
import { type ReadDocuments, readExportDocuments, withEvidence } from '../shared/input/input.ts';
import { readTrust } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { writeProduct } from '../shared/output/product.ts';
import { describeExport, describePart, formatSignatureFiles, type SignatureFiles } from './output.ts';
import type { Attestation, ExportAttestation } from '../../contract/resources/attestation.ts';
import { DrillproofError } from '../../errors.ts';
import { describeUnknownKey } from '../../trust/check-key.ts';
import { publicKeyPem } from '../../trust/key/key.ts';
import type { TrustStore } from '../../trust/store.ts';
import { writeOutputFolder } from '../shared/output/output-file.ts';

const INSPECT = [
  ...STANDARD,
  ...TRUST,
  option('--bundle <id>', 'show this bundle of the export'),
  option('--export-signature', 'write the signed bytes, the signature and the key as files'),
  option('--out <dir>', 'write the files to this folder (default: ID.signature)').onlyWith(
    '--export-signature',
  ),
];
type InspectOptions = OptionsOf<typeof INSPECT>;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description(
      'Show the contents of an export or part without verifying it, or write a signature as files for openssl.',
    )
    .argument('<path>', 'folder, s3://bucket/prefix or ZIP of an export, or a part')
    .perform(INSPECT, (options, path: string) => inspect(cli, path, options))
    .examples({
      'show a mirror': 'drillproof inspect ./mirror',
      'show one bundle of it': 'drillproof inspect ./mirror --bundle evidence_0123456789ab',
      'verify the signature of the list with openssl':
        'drillproof inspect --export-signature ./mirror --trust trust.json --out ./signature',
    })
    .addHelpText('after', MORE);
}

const MORE = `
--export-signature writes statement.json (the signed bytes), signature.der and,
with --trust or --key, key.pem. It prints the openssl command that verifies
them. The signature is that of the list or, with --bundle, of one bundle.`;

type Subject = { readonly id: string } & (
  | { readonly kind: 'part'; readonly documents: PartContents }
  | { readonly kind: 'export'; readonly documents: ReadDocuments }
);

const inspect = (cli: Cli, path: string, options: InspectOptions): Promise<void> =>
  withEvidence(cli, path, async (evidence) => {
    const subject = await readSubject(path, evidence, options);
    if (options.exportSignature === true) return writeSignature(cli, path, subject, options);
    const { product, text } =
      subject.kind === 'part' ? describePart(subject.documents) : describeExport(subject.documents);
    return writeProduct(cli, product, text);
  });

async function readSubject(
  path: string,
  evidence: OpenEvidence,
  { bundle }: InspectOptions,
): Promise<Subject> {
  if (evidence.kind === 'part') {
    if (bundle !== undefined) throw usageError(`--bundle needs an export, but ${path} is a single part`);
    return createPartSubject(await readPartContents(evidence.access));
  }
  const { source } = evidence;
  const documents = await readExportDocuments(source);
  if (bundle !== undefined) {
    const row = findPartRow(documents, bundle);
    return createPartSubject(await closeAfter(await source.open(row.path), readPartContents));
  }
  return { kind: 'export', id: documents.manifest.evidenceExportId, documents };
}

const createPartSubject = (documents: PartContents): Subject => ({
  kind: 'part',
  id: documents.manifest.evidenceBundleId,
  documents,
});

function findPartRow({ manifest }: ReadDocuments, id: string) {
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
  { kind, id, documents: { attestation } }: Subject,
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
    formatSignatureFiles(files, attestation),
  );
  if (files.keyPath === undefined)
    await printNote(cli, 'no key was written: pass --trust FILE or --key FILE,issuer=NAME');
}

async function writeSignatureFiles(
  folder: string,
  attestation: Attestation | ExportAttestation,
  trust: TrustStore | undefined,
): Promise<SignatureFiles> {
  const { statement } = attestation;
  const { issuer, keyId } = statement;
  const key = trust?.find(issuer, keyId);
  if (trust !== undefined && key === undefined) {
    const { code, message, expected, actual } = describeUnknownKey(trust, statement);
    throw new DrillproofError(code, `${message}: expected ${expected}, actual ${actual}`);
  }
  await writeOutputFolder(folder, async (temporary) => {
    await writeNewFile(join(temporary, 'statement.json'), [encodeStatement(statement)]);
    await writeNewFile(join(temporary, 'signature.der'), [decodeSignatureBytes(attestation)]);
    if (key !== undefined)
      await writeNewFile(join(temporary, 'key.pem'), [Buffer.from(publicKeyPem(key.point))]);
  });
  const [statementPath, signaturePath] = [join(folder, 'statement.json'), join(folder, 'signature.der')];
  const keyPath = join(folder, 'key.pem');
  const [statementWord, signatureWord, keyWord] = [statementPath, signaturePath, keyPath].map(quoteShellWord);
  return {
    statementPath,
    signaturePath,
    ...defined({ keyPath: key && keyPath }),
    command: `openssl dgst -sha256 -verify ${keyWord} -signature ${signatureWord} ${statementWord}`,
  };
}
