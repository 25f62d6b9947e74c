import { type Cli, describeLook, printNotes } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { AS_OF, FORCE, STANDARD, THRESHOLD, TRUST } from '../shared/options/options.ts';
import { requireSigning, signingOptions } from '../shared/input/signing.ts';
import { defined } from '../../bytes/arguments.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { DrillproofError } from '../../errors.ts';
import { attestDsse, attestExportDsse } from '../../evidence/in-toto.ts';
import { type BundleSigning, buildBundleStatement } from '../../evidence/bundle/statement.ts';
import { DEFAULT_LIMITS } from '../../evidence/document.ts';
import { EXPORT_MANIFEST, buildExportStatement } from '../../evidence/export/pack-export.ts';
import {
  openPart,
  type PartDocuments,
  readPartDocuments,
  readRunResult,
} from '../../evidence/bundle/part.ts';
import { readFile } from '../../evidence/source.ts';
import { renderers } from '../../report/text/text.ts';
import { encodeDsse, type DsseEnvelope } from '../../trust/dsse.ts';
import type { BundleReport, ExportReport } from '../../verify/report.ts';
import { verifyDsse } from '../../verify/verify-dsse.ts';
import { verifyExport } from '../../verify/export/export.ts';
import { verifyPart } from '../../verify/part/part.ts';
import {
  looksLikeJson,
  readExportDocuments,
  readEvidenceInput,
  withEvidence,
} from '../shared/input/input.ts';
import { readTimestamps } from '../shared/input/timestamps.ts';
import { requireTrust } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT_OF_SIGNED } from '../exit.ts';
import { writeBytes } from '../shared/output/output-file.ts';
import { alignFacts, writeProduct, writeReport } from '../shared/output/product.ts';

const CREATE = [
  ...STANDARD,
  option('--out <file>', 'write the envelope to this file; - for standard output').required(),
  ...signingOptions('the statement'),
  FORCE,
];

const VERIFY = [
  ...STANDARD,
  ...TRUST,
  option('--subject <path>', 'require that it names this part, export or manifest.json').required(),
  THRESHOLD,
  AS_OF,
];

export function defineCommand(dsse: CliCommand, cli: Cli): void {
  dsse.description(
    'Sign evidence in a separate file, an in-toto statement in a DSSE envelope, and verify such files.',
  );
  dsse
    .command('create')
    .description('Verify a part, or the list of an export, and sign it in a DSSE envelope.')
    .argument('<path>', 'part archive, folder of an export, or a ZIP of it')
    .perform(CREATE, (options, path: string) => createEnvelope(cli, path, options))
    .examples({
      'a part': 'drillproof dsse create part.zip --key key.pem --issuer acme-ci --out part.dsse.json',
      'the list of an export, signed by a command':
        'drillproof dsse create ./export --signer ./sign.sh --public-key key.pub.pem --issuer acme-ci --out export.dsse.json',
    });
  dsse
    .command('verify')
    .description('Verify offline that a DSSE envelope names a part or export, and who signed it.')
    .argument('<envelope>', 'the envelope; - for standard input')
    .perform(VERIFY, (options, path: string) => verifyEnvelopeFile(cli, path, options))
    .examples({
      'about a part': 'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json',
      'two of your keys must have signed':
        'drillproof dsse verify part.dsse.json --subject part.zip --trust trust.json --threshold 2',
    })
    .addHelpText('after', MORE);
}

const MORE = `
Only the manifest of the subject is compared. To verify every byte as well, use
"drillproof verify PATH --dsse ENVELOPE".`;

async function createEnvelope(cli: Cli, path: string, options: OptionsOf<typeof CREATE>): Promise<void> {
  const signing = await requireSigning(cli, options);
  const envelope = await createDsse(cli, path, signing);
  const { issuer } = signing;
  const { keyId } = signing.signer;
  await writeBytes(cli, options.out, [encodeDsse(envelope)], { force: options.force === true });
  const text = alignFacts([
    ['subject', path],
    ['envelope', options.out],
    ['signed by', `${issuer}, key ${keyId}`],
  ]);
  if (options.out === '-') await printNotes(cli, text.trimEnd());
  else await writeProduct(cli, { kind: 'dsse', subject: path, path: options.out, issuer, keyId }, text);
}

async function verifyEnvelopeFile(cli: Cli, path: string, options: OptionsOf<typeof VERIFY>): Promise<void> {
  const { subject, threshold, asOf = cli.now() } = options;
  const trust = await requireTrust(cli, options);
  const envelope = await readEvidenceInput(path, MAX_ENVELOPE_BYTES, cli);
  const timestamps = await readTimestamps(cli, { about: [path] }, { asOfMs: asOf, trust });
  const report = verifyDsse(envelope, {
    asOfMs: asOf,
    trust,
    timestamps,
    ...(await readSubjectManifest(cli, subject)),
    ...defined({ threshold }),
  });
  await writeReport(cli, report, renderers.text(report, describeLook(cli, cli.stdout)));
  cli.exitCode = EXIT_OF_SIGNED[report.verdict];
}

const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;

type SubjectManifest = { readonly purpose: 'evidence' | 'export'; readonly manifest: Uint8Array };

async function readSubjectManifest(cli: Cli, path: string): Promise<SubjectManifest> {
  if (path === '-' || (await looksLikeJson(path))) return readManifestDocument(cli, path);
  return withEvidence(cli, path, async (evidence) => {
    if (evidence.kind === 'export')
      return {
        purpose: 'export',
        manifest: await readFile(evidence.source, EXPORT_MANIFEST, DEFAULT_LIMITS.manifestBytes),
      };
    return { purpose: 'evidence', manifest: (await openPart(evidence.access)).manifestBytes };
  });
}

async function readManifestDocument(cli: Cli, path: string): Promise<SubjectManifest> {
  const manifest = await readEvidenceInput(path, DEFAULT_LIMITS.manifestBytes, cli);
  const value = parseJson(manifest);
  const kind = value !== null && typeof value === 'object' && 'kind' in value ? value['kind'] : undefined;
  if (kind === 'evidence.bundle') return { purpose: 'evidence', manifest };
  if (kind === 'evidence.export') return { purpose: 'export', manifest };
  throw usageError(`${path} is not a part, an export, or a manifest`);
}

/** Verifies a part or the list of an export without trusting any key, and signs a statement about it. */
const createDsse = (cli: Cli, path: string, signing: BundleSigning): Promise<DsseEnvelope> =>
  withEvidence(cli, path, async (evidence) => {
    const settings = { asOfMs: signing.issuedAtMs, signal: cli.signal };
    if (evidence.kind === 'part') {
      refuseFaulty(path, await verifyPart(evidence.access, settings));
      return signPart(await readPartDocuments(evidence.access), signing);
    }
    refuseFaulty(path, await verifyExport(evidence.source, { ...settings, depth: 'digest' }));
    const { manifest, manifestDigest } = await readExportDocuments(evidence.source);
    return attestExportDsse(buildExportStatement(manifest, manifestDigest, signing), [signing.signer]);
  });

function refuseFaulty(path: string, report: BundleReport | ExportReport): void {
  if (report.verdict === 'verified' || report.verdict === 'intact') return;
  const all = report.kind === 'bundle' ? report.findings : report.parts.flatMap(({ findings }) => findings);
  const fault = [...report.findings, ...all].find(({ severity }) => severity === 'error');
  if (fault !== undefined)
    throw new DrillproofError(fault.code, `${path} was not signed: ${fault.message}`, {
      path: fault.path ?? path,
    });
  throw new DrillproofError('export.EMPTY', `${path} was not signed: it has no bundle`);
}

async function signPart(part: PartDocuments, signing: BundleSigning): Promise<DsseEnvelope> {
  const { manifest, manifestDigest } = part;
  const statement = buildBundleStatement(manifest, manifestDigest, await readRunResult(part), {
    ...signing,
    ...readOriginal(part),
  });
  return attestDsse(statement, [signing.signer]);
}

function readOriginal({ manifest, attestation }: PartDocuments): Pick<BundleSigning, 'original'> {
  if (manifest.rerunOfHostedRunId === undefined) return {};
  if (attestation === undefined)
    throw new DrillproofError(
      'pack.INPUT_INVALID',
      'the counters of the run that this rerun reproduces are not in the part',
    );
  const { reproduction } = attestation.statement.subject;
  const { originalTrial: trial, originalTrialCount: trialCount } = reproduction;
  const { originalAttempt: attempt, originalAttemptLimit: attemptLimit } = reproduction;
  return { original: { trial, trialCount, attempt, attemptLimit } };
}
