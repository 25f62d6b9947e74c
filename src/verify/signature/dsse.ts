import type { Digest } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import {
  readDsseStatement,
  readExportDsseStatement,
  type ExportManifest,
  type ExportStatement,
  type Statement,
} from '../../evidence/index.ts';
import {
  judgeDsse,
  parseDsse,
  preAuthEncoding,
  type DsseEnvelope,
  type TrustedKey,
} from '../../trust/index.ts';
import {
  judgeSignature,
  type AnyStatement,
  type SignatureJudgement,
  type SignedStatement,
} from './attestation.ts';
import { bindingFindings, type BundleFacts } from '../part/binding.ts';
import { createLedger, skipAll, type Ledger } from '../check.ts';
import { checksWaitingFor } from '../checks.ts';
import { exportSubjectFindings } from '../export/subject.ts';
import { finding, findingsOf, type Finding } from '../finding.ts';
import { foldInto } from '../fold.ts';
import type { GivenEnvelope } from './given-envelopes.ts';
import { acceptedTypes, type Settings } from '../options.ts';

/** What an envelope has to be about: what kind of statement, where it belongs, and what it must be bound to. */
export type DsseAbout<S extends AnyStatement = AnyStatement> = Pick<
  SignedStatement,
  'purpose' | 'projectId' | 'organizationId' | 'wholeOrganization'
> & {
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

/** An envelope about the list of an export. */
export const dsseOnExport = (
  subject: string,
  { evidenceExportId, organizationId, scope }: ExportManifest,
  manifestDigest: Digest,
): DsseAbout<ExportStatement> => ({
  purpose: 'export',
  organizationId,
  ...(scope.kind === 'project' ? { projectId: scope.projectId } : { wholeOrganization: true }),
  read: readExportDsseStatement,
  bind: (statement, path) =>
    exportSubjectFindings(subject, `${path}#${PREDICATE}/subject`, statement.subject, {
      evidenceExportId,
      organizationId,
      manifestDigest,
    }),
});

/**
 * `dsse.attestation`: the envelopes that the caller gave beside evidence, judged as one check of it. All of them have to
 * hold: of others none counts.
 * @param amiss what is wrong with further envelopes, which are not judged
 */
export function judgeGivenDsse<S extends AnyStatement>(
  ledger: Ledger,
  subject: string,
  envelopes: readonly GivenEnvelope[],
  about: DsseAbout<S>,
  settings: Settings,
  amiss: readonly Finding[] = [],
): readonly EnvelopeJudgement<S>[] {
  const others = createLedger();
  others.note(amiss);
  const judged = envelopes.map((envelope) => {
    const steps = createLedger();
    return { steps, judgement: judgeEnvelope(steps, subject, envelope, about, 1, settings) };
  });
  const held = foldInto(ledger, 'dsse.attestation', ...judged.map(({ steps }) => steps), others);
  return held ? judged.map(({ judgement }) => judgement) : [];
}

/** What the judgement of an envelope found out; the statement where it counts. */
export type EnvelopeJudgement<S> = SignatureJudgement & { readonly statement?: S };

/**
 * Judges an envelope in order: is it DSSE with a statement of ours, does a trusted key that speaks for the statement
 * vouch for it, did enough different keys sign, and is it bound to what is at hand (formats §2, DSSE).
 */
export function judgeEnvelope<S extends AnyStatement>(
  ledger: Ledger,
  subject: string,
  given: GivenEnvelope,
  about: DsseAbout<S>,
  threshold: number,
  settings: Settings,
): EnvelopeJudgement<S> {
  const opened = openEnvelope(ledger, subject, given, about, settings);
  if (opened === undefined) {
    const reason = 'the envelope holds no statement to judge';
    skipAll(ledger, checksWaitingFor('dsse.envelope'), 'not_checked', reason);
    return { trusted: false };
  }
  const { envelope, statement } = opened;
  const { read: _read, bind, ...known } = about;
  const judged = judgeSignature(
    ledger,
    subject,
    given.path,
    { ...known, ...signedBy(envelope, statement) },
    settings,
  );
  const { enough, keys } = checkThreshold(ledger, subject, opened, about, threshold, settings);
  if (bind === undefined)
    ledger.skipped('attestation.binding', 'not_checked', 'an envelope alone is bound to no bytes');
  const bound = bind === undefined || ledger.ran('attestation.binding', bind(statement, given.path));
  if (!enough || !bound) return { trusted: false };
  return judged.trusted ? { ...judged, keys, statement } : judged;
}

type Opened<S> = { readonly path: string; readonly envelope: DsseEnvelope; readonly statement: S };

function openEnvelope<S extends AnyStatement>(
  ledger: Ledger,
  subject: string,
  { path, bytes }: GivenEnvelope,
  { read, purpose }: DsseAbout<S>,
  settings: Settings,
): Opened<S> | undefined {
  try {
    const envelope = parseDsse(bytes, { maxBytes: settings.limits.documentBytes });
    const statement = read(envelope, acceptedTypes(settings, purpose));
    refuseForeignKeyIds(envelope, statement.keyId);
    ledger.ran('dsse.envelope', []);
    return { path, envelope, statement };
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

/** The signatures that may be the one by the key that the statement names: those that name it, or no key. */
function signedBy(envelope: DsseEnvelope, statement: AnyStatement) {
  const { payloadType, payload, signatures } = envelope;
  return {
    statement,
    message: preAuthEncoding(payloadType, payload),
    signatures: signatures.flatMap(({ keyId, signature }, at) =>
      (keyId ?? statement.keyId) === statement.keyId
        ? [{ path: `/signatures/${at}/sig`, decode: () => signature }]
        : [],
    ),
  };
}

/** `dsse.threshold`: how many different keys signed, whatever their number of signatures and names. */
function checkThreshold(
  ledger: Ledger,
  subject: string,
  { path, envelope, statement }: Opened<AnyStatement>,
  { purpose, projectId, organizationId }: Omit<DsseAbout, 'bind' | 'read'>,
  threshold: number,
  settings: Settings,
): { readonly enough: boolean; readonly keys: readonly TrustedKey[] } {
  const { trust, asOfMs } = settings;
  if (trust === undefined) {
    ledger.skipped('dsse.threshold', 'not_checked', 'no trust store was given');
    return { enough: false, keys: [] };
  }
  const { signatures, distinct, keys } = judgeDsse(envelope, trust, {
    issuer: statement.issuer,
    countersigners: true,
    keyId: statement.keyId,
    issuedAtMs: statement.issuedAtMs,
    purpose,
    asOfMs,
    ...(projectId === undefined ? {} : { projectId }),
    ...(organizationId === undefined ? {} : { organizationId }),
  });
  const found = signatures.flatMap(({ keyId, problem }, at) =>
    problem === undefined || keyId === statement.keyId
      ? []
      : [
          finding('dsse.SIGNATURE_UNCOUNTED', subject, {
            path: `${path}#/signatures/${at}`,
            message: `the signature of ${JSON.stringify(keyId)} counts for nothing: ${problem.message}`,
          }),
        ],
  );
  if (distinct < threshold && threshold > 1) {
    const message = 'fewer different trusted keys signed the envelope than were asked for';
    const counts = { expected: `at least ${threshold}`, actual: String(distinct) };
    found.push(
      finding('dsse.THRESHOLD_MISSED', subject, { path: `${path}#/signatures`, message, ...counts }),
    );
  }
  return { enough: ledger.ran('dsse.threshold', found), keys };
}
