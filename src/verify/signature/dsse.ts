import { defined, BYTES, type Digest, type Kind } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import {
  type ExportManifest,
  type ExportStatement,
  readDsseStatement,
  readExportDsseStatement,
  type Statement,
  readDsseSubject,
} from '../../evidence/index.ts';
import { type DsseEnvelope, parseDsse, signedMessage } from '../../trust/index.ts';
import {
  endRemaining,
  endCheck,
  foldSteps,
  hasPassed,
  joinSteps,
  noteFindings,
  recordCheck,
  type ReadStep,
  type Step,
  type StepOf,
} from '../step.ts';
import { listWaitingChecks } from '../checks.ts';
import { findingsOf } from '../finding.ts';
import { listTypes, type Settings } from '../options.ts';
import { checkBundleBinding, checkExportBinding, type BundleFacts, type ExportFacts } from './binding.ts';
import {
  verifySigned,
  type AnyStatement,
  type Signed,
  type SignedContext,
  type SignedResult,
  type StatementScope,
} from './signed.ts';
import type { Finding } from '../report.ts';

/** What an envelope has to hold: the kind of its statement, its scope, and the evidence that it must match. */
export type EnvelopeKind<S extends AnyStatement = AnyStatement> = StatementScope & {
  readonly read: (envelope: DsseEnvelope, accepted: readonly string[]) => S;
  /** Finds what the statement names and the evidence has otherwise; absent where there is no evidence. */
  readonly bind?: (statement: S, path: string) => readonly Finding[];
};

type EnvelopeContext = Omit<SignedContext, 'path'>;

const SUBJECT_PATH = '#/payload#/predicate/subject';

/** An envelope about a bundle. */
export const bundleEnvelope = (subject: string, facts: BundleFacts): EnvelopeKind<Statement> => ({
  purpose: 'evidence',
  projectId: facts.manifest.projectId,
  organizationId: facts.manifest.organizationId,
  read: readDsseStatement,
  bind: (statement, path) =>
    checkBundleBinding(subject, `${path}${SUBJECT_PATH}/manifestDigest`, statement, facts),
});

/** An envelope about the list of an export. */
export const exportEnvelope = (subject: string, facts: ExportFacts): EnvelopeKind<ExportStatement> => ({
  ...exportScope(facts.manifest),
  read: readExportDsseStatement,
  bind: (statement, path) => checkExportBinding(subject, `${path}${SUBJECT_PATH}`, statement, facts),
});

/** The scope of a statement about the list of an export. */
export const exportScope = ({
  organizationId,
  scope,
}: Pick<ExportManifest, 'organizationId' | 'scope'>): StatementScope => ({
  purpose: 'export',
  organizationId,
  ...(scope.kind === 'project' ? { projectId: scope.projectId } : { wholeOrganization: true }),
});

/** The result for an envelope; with the statement where it counts. */
export type EnvelopeResult<S> = SignedResult & { readonly statement?: S };

/**
 * `dsse.attestation`: verifies the envelopes that the caller gave with evidence, as one check of it. All of them have to
 * verify: otherwise none counts.
 * @param others findings about further envelopes, which are not verified
 */
export function verifyGivenEnvelopes<S extends AnyStatement>(
  envelopes: readonly GivenEnvelope[],
  kind: EnvelopeKind<S>,
  context: EnvelopeContext,
  others: readonly Finding[] = [],
): StepOf<readonly EnvelopeResult<S>[]> {
  const results = envelopes.map((envelope) => verifySignedEnvelope(envelope, kind, context));
  const step = foldSteps('dsse.attestation', [...results, noteFindings(others)]);
  return { ...step, value: hasPassed(step, 'dsse.attestation') ? results : [] };
}

/**
 * Verifies an envelope in order: it is DSSE with a statement of the kind, its signatures verify as those of every signed
 * statement, and it is bound to the evidence (formats §2, DSSE).
 */
export function verifySignedEnvelope<S extends AnyStatement>(
  envelope: GivenEnvelope,
  kind: EnvelopeKind<S>,
  { threshold = 1, ...context }: EnvelopeContext,
): EnvelopeResult<S> {
  const { path } = envelope;
  const opened = openEnvelope(envelope, kind, context);
  const signed = opened.value;
  if (signed === undefined) {
    const reason = 'the envelope has no statement that could be read';
    const step = endRemaining(opened, listWaitingChecks('dsse.envelope'), 'not_checked', reason);
    return { ...step, trusted: false, keys: [] };
  }
  const result = verifySigned(signed, kind, { ...context, path, threshold });
  const binding = checkBinding(signed.statement, kind, path);
  const step = joinSteps([opened, result, binding]);
  const bound = kind.bind === undefined || hasPassed(binding, 'attestation.binding');
  if (!bound || !result.trusted) return { ...step, trusted: false, keys: [] };
  return { ...result, ...step, statement: signed.statement };
}

/** `attestation.binding`, of an envelope. */
const checkBinding = <S extends AnyStatement>(statement: S, { bind }: EnvelopeKind<S>, path: string): Step =>
  bind === undefined
    ? endCheck('attestation.binding', 'not_checked', 'an envelope alone is bound to no bytes')
    : recordCheck('attestation.binding', bind(statement, path));

/** `dsse.envelope` */
function openEnvelope<S extends AnyStatement>(
  { path, bytes }: GivenEnvelope,
  { read, purpose }: EnvelopeKind<S>,
  { subject, settings }: EnvelopeContext,
): ReadStep<Signed<S>> {
  try {
    const envelope = parseDsse(bytes, { maxBytes: settings.limits.documentBytes });
    const statement = read(envelope, listTypes(settings, purpose));
    refuseForeignKeyIds(envelope, statement.keyId);
    return { ...recordCheck('dsse.envelope', []), value: signedOfEnvelope(envelope, statement) };
  } catch (error) {
    return recordCheck('dsse.envelope', findingsOf(error, subject, path));
  }
}

/** DSSE calls the key id a hint. Here the payload names its signer, and an envelope that contradicts it is not read. */
function refuseForeignKeyIds({ signatures }: DsseEnvelope, named: string): void {
  if (signatures.some(({ keyId }) => (keyId ?? named) === named)) return;
  const message = `no signature has the key id ${JSON.stringify(named)} that the statement names`;
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

/** DSSE envelopes that a caller gives with evidence: one, or at most 10,000. */
export type Envelopes = Uint8Array | readonly Uint8Array[];

/** An envelope that the caller gave, and the path of findings about it: it has no name of its own. */
export type GivenEnvelope = { readonly path: string; readonly bytes: Uint8Array };

/** The most envelopes for one part or export (formats, Limits). */
export const MAX_ENVELOPES = 10_000;

export const ENVELOPES: Kind = {
  what: `a Uint8Array, or an array of at most ${MAX_ENVELOPES}`,
  accepts: (value) =>
    BYTES.accepts(value) ||
    (Array.isArray(value) && value.length <= MAX_ENVELOPES && value.every(BYTES.accepts)),
};

/** An envelope that is the only one. */
export const onlyEnvelope = (bytes: Uint8Array): GivenEnvelope => ({ path: 'dsse', bytes });

/** The envelopes of a caller with their paths: `dsse`, or `dsse/0`, `dsse/1`, … where there are several. */
export function readEnvelopeOptions(dsse: Envelopes = []): readonly GivenEnvelope[] {
  const all = dsse instanceof Uint8Array ? [dsse] : dsse;
  const [first] = all;
  if (all.length === 1 && first !== undefined) return [onlyEnvelope(first)];
  return all.map((bytes, at) => ({ path: `dsse/${at}`, bytes }));
}

/** The envelopes given with an export, sorted by the subject that they name before any of them is verified. */
export type SortedEnvelopes = {
  /** About the list, and whatever names no bundle: verified as about the list, it fails with its own code. */
  readonly list: readonly GivenEnvelope[];
  /** About a bundle that the export lists, by the digest of its manifest. */
  readonly parts: ReadonlyMap<string, readonly GivenEnvelope[]>;
  /** About a bundle that the export does not list. */
  readonly stray: readonly (GivenEnvelope & { readonly digest: Digest })[];
};

/** Sorts envelopes by the subject of their in-toto statements (formats §2, DSSE). Nothing is verified. */
export function sortEnvelopes(
  envelopes: readonly GivenEnvelope[],
  { manifest, manifestDigest }: ExportFacts,
  settings: Settings,
): SortedEnvelopes {
  const parts = new Map<string, GivenEnvelope[]>(manifest.parts.map((row) => [row.manifestDigest, []]));
  const list: GivenEnvelope[] = [];
  const stray: (GivenEnvelope & { digest: Digest })[] = [];
  for (const envelope of envelopes) {
    const subject = subjectOf(envelope, settings);
    const ofPart = parts.get(subject?.digest ?? '');
    if (subject === undefined || subject.digest === manifestDigest) list.push(envelope);
    else if (ofPart !== undefined) ofPart.push(envelope);
    else if (subject.onBundle) stray.push({ ...envelope, digest: subject.digest });
    else list.push(envelope);
  }
  return { list, parts, stray };
}

function subjectOf({ bytes }: GivenEnvelope, settings: Settings) {
  try {
    const { digest, predicateType } = readDsseSubject(
      parseDsse(bytes, { maxBytes: settings.limits.documentBytes }),
    );
    return { digest, onBundle: listTypes(settings, 'evidence').includes(predicateType) };
  } catch {
    return undefined; // its verification reports what is wrong
  }
}
