import type { Finding } from '../report.ts';
import { defined, type Digest } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  type ExportManifest,
  type ExportStatement,
  readDsseStatement,
  readExportDsseStatement,
  type Statement,
} from '../../evidence/index.ts';
import { type DsseEnvelope, parseDsse, signedMessage } from '../../trust/index.ts';
import {
  verifySigned,
  type AnyStatement,
  type Signed,
  type SignedContext,
  type SignedResult,
  type StatementScope,
} from './signed.ts';
import { bindingFindings, type BundleFacts } from '../part/binding.ts';
import { createLedger, skipAll, type Ledger } from '../check.ts';
import { checksWaitingFor } from '../checks.ts';
import { exportSubjectFindings } from '../export/subject.ts';
import { findingsOf } from '../finding.ts';
import { foldInto } from '../fold.ts';
import type { GivenEnvelope } from './given-envelopes.ts';
import { acceptedTypes } from '../options.ts';

/** What an envelope has to be about: what kind of statement, where it belongs, and what it must be bound to. */
export type DsseAbout<S extends AnyStatement = AnyStatement> = StatementScope & {
  readonly read: (envelope: DsseEnvelope, accepted: readonly string[]) => S;
  /** What the statement names and is otherwise; absent where there are no bytes to compare it with. */
  readonly bind?: (statement: S, path: string) => readonly Finding[];
};

const PREDICATE = '/payload#/predicate';

/** An envelope about a bundle. */
export const dsseOnBundle = (subject: string, facts: BundleFacts): DsseAbout<Statement> => ({
  purpose: 'evidence',
  projectId: facts.manifest.projectId,
  organizationId: facts.manifest.organizationId,
  read: readDsseStatement,
  bind: (statement, path) =>
    bindingFindings(subject, `${path}#${PREDICATE}/subject/manifestDigest`, statement, facts),
});

/** What a statement about the list of an export has to be about. */
export const exportScope = ({
  organizationId,
  scope,
}: Pick<ExportManifest, 'organizationId' | 'scope'>): StatementScope => ({
  purpose: 'export',
  organizationId,
  ...(scope.kind === 'project' ? { projectId: scope.projectId } : { wholeOrganization: true }),
});

/** An envelope about the list of an export. */
export const dsseOnExport = (
  subject: string,
  manifest: ExportManifest,
  manifestDigest: Digest,
): DsseAbout<ExportStatement> => ({
  ...exportScope(manifest),
  read: readExportDsseStatement,
  bind: (statement, path) =>
    exportSubjectFindings(subject, `${path}#${PREDICATE}/subject`, statement.subject, {
      evidenceExportId: manifest.evidenceExportId,
      organizationId: manifest.organizationId,
      manifestDigest,
    }),
});

/**
 * `dsse.attestation`: the envelopes that the caller gave with evidence, as one check of it. All of them have to verify:
 * otherwise none counts.
 * @param others findings about further envelopes, which are not verified
 */
export function verifyGivenEnvelopes<S extends AnyStatement>(
  ledger: Ledger,
  envelopes: readonly GivenEnvelope[],
  { about, ...context }: Omit<SignedContext, 'path'> & { readonly about: DsseAbout<S> },
  others: readonly Finding[] = [],
): readonly EnvelopeResult<S>[] {
  const results = envelopes.map((envelope) => verifyEnvelope(envelope, about, context));
  const held = foldInto(ledger, 'dsse.attestation', ...results, { checks: [], findings: others });
  return held ? results : [];
}

/** The result for an envelope; with the statement where it counts. */
export type EnvelopeResult<S> = SignedResult & { readonly statement?: S };

/**
 * Verifies an envelope in order: it is DSSE with a statement of ours, its signatures verify as those of every signed
 * statement, and it is bound to the evidence (formats §2, DSSE).
 */
export function verifyEnvelope<S extends AnyStatement>(
  given: GivenEnvelope,
  { read, bind, ...scope }: DsseAbout<S>,
  { threshold = 1, ...context }: Omit<SignedContext, 'path'>,
): EnvelopeResult<S> {
  const { path } = given;
  const ledger = createLedger();
  const signed = openEnvelope(ledger, given, { read, scope, context });
  if (signed === undefined) {
    const reason = 'the envelope holds no statement to judge';
    skipAll(ledger, checksWaitingFor('dsse.envelope'), 'not_checked', reason);
    return { checks: ledger.checks, findings: ledger.findings, trusted: false, keys: [] };
  }
  const result = verifySigned(signed, scope, { ...context, path, threshold });
  ledger.include(result);
  if (bind === undefined)
    ledger.skipped('attestation.binding', 'not_checked', 'an envelope alone is bound to no bytes');
  const bound = bind === undefined || ledger.ran('attestation.binding', bind(signed.statement, path));
  const steps = { checks: ledger.checks, findings: ledger.findings };
  if (!bound || !result.trusted) return { ...steps, trusted: false, keys: [] };
  return { ...result, ...steps, statement: signed.statement };
}

function openEnvelope<S extends AnyStatement>(
  ledger: Ledger,
  { path, bytes }: GivenEnvelope,
  {
    read,
    scope,
    context: { subject, settings },
  }: Pick<DsseAbout<S>, 'read'> & {
    readonly scope: StatementScope;
    readonly context: Omit<SignedContext, 'path'>;
  },
): Signed<S> | undefined {
  try {
    const envelope = parseDsse(bytes, { maxBytes: settings.limits.documentBytes });
    const statement = read(envelope, acceptedTypes(settings, scope.purpose));
    refuseForeignKeyIds(envelope, statement.keyId);
    ledger.ran('dsse.envelope', []);
    return signedOfEnvelope(envelope, statement);
  } catch (error) {
    ledger.ran('dsse.envelope', findingsOf(error, subject, path));
    return undefined;
  }
}

/** DSSE calls the key id a hint. Here the payload names its signer, and what contradicts it is not read. */
function refuseForeignKeyIds({ signatures }: DsseEnvelope, named: string): void {
  if (signatures.some(({ keyId }) => (keyId ?? named) === named)) return;
  const message = `no signature is said to be by the key ${JSON.stringify(named)} that the statement names`;
  throw new DrillproofError('dsse.KEYID_MISMATCH', message, { path: '/signatures' });
}

function signedOfEnvelope<S extends AnyStatement>(envelope: DsseEnvelope, statement: S): Signed<S> {
  const { message, signatures } = signedMessage(envelope);
  return {
    statement,
    message,
    signatures: signatures.map(({ keyId, signature }, at) =>
      defined({ path: `/signatures/${at}/sig`, keyId, decode: () => signature }),
    ),
  };
}
