import { BYTES, type Kind } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { DrillproofError } from '../../errors.ts';
import type { ExportManifest } from '../../evidence/export/manifest.ts';
import type { ExportStatement, Statement } from '../../evidence/bundle/attestation.ts';
import { readDsseStatement, readExportDsseStatement, readDsseSubject } from '../../evidence/in-toto.ts';
import { type DsseEnvelope, parseDsse, buildSignedMessage } from '../../trust/dsse.ts';
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
import { findStamp, listTypes, type Settings } from '../options.ts';
import { checkBundleBinding, checkExportBinding, type BundleFacts, type ExportFacts } from './binding.ts';
import {
  decodeSignature,
  verifySigned,
  type AnyStatement,
  type Signed,
  type SignedContext,
  type SignedResult,
  type StatementScope,
} from './signed.ts';
import type { Finding, Stamp } from '../report.ts';

/** The required content of an envelope: the kind of its statement, its scope, and the evidence that it must match. */
export type EnvelopeKind<S extends AnyStatement = AnyStatement> = StatementScope & {
  readonly read: (envelope: DsseEnvelope, accepted: readonly string[]) => S;
  /** Compares the statement with the evidence; absent if there is none. */
  readonly bind?: (statement: S, path: string) => readonly Finding[];
};

type EnvelopeContext = Omit<SignedContext, 'path'>;

const SUBJECT_PATH = '#/payload#/predicate/subject';

export const describeBundleEnvelope = (subject: string, facts: BundleFacts): EnvelopeKind<Statement> => ({
  purpose: 'evidence',
  projectId: facts.manifest.projectId,
  organizationId: facts.manifest.organizationId,
  read: readDsseStatement,
  bind: (statement, path) =>
    checkBundleBinding(subject, `${path}${SUBJECT_PATH}/manifestDigest`, statement, facts),
});

export const describeExportEnvelope = (
  subject: string,
  facts: ExportFacts,
): EnvelopeKind<ExportStatement> => ({
  ...buildExportScope(facts.manifest),
  read: readExportDsseStatement,
  bind: (statement, path) => checkExportBinding(subject, `${path}${SUBJECT_PATH}`, statement, facts),
});

export const buildExportScope = ({
  organizationId,
  scope,
}: Pick<ExportManifest, 'organizationId' | 'scope'>): StatementScope => ({
  purpose: 'export',
  organizationId,
  ...(scope.kind === 'project' ? { projectId: scope.projectId } : { wholeOrganization: true }),
});

/** The result for an envelope; with the statement if it counts. */
export type EnvelopeResult<S> = SignedResult & { readonly statement?: S; readonly stamp?: Stamp | undefined };

/**
 * `dsse.attestation`: verifies the envelopes from the caller as one check. If one does not verify, none counts.
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
    const reason = 'the statement of the envelope could not be read';
    const step = endRemaining(opened, listWaitingChecks('dsse.envelope'), 'not_checked', reason);
    return { ...step, trusted: false, keys: [] };
  }
  const stamp = findStamp(context.settings, envelope.bytes);
  const result = verifySigned(signed, kind, { ...context, path, threshold, stamp });
  const binding = checkBinding(signed.statement, kind, path);
  const step = joinSteps([opened, result, binding]);
  const bound = kind.bind === undefined || hasPassed(binding, 'attestation.binding');
  if (!bound || !result.trusted) return { ...step, trusted: false, keys: [] };
  return { ...result, ...step, statement: signed.statement, stamp };
}

/** `attestation.binding` of an envelope. */
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
    return { ...recordCheck('dsse.envelope', []), value: buildEnvelopeSigned(envelope, statement) };
  } catch (error) {
    return recordCheck('dsse.envelope', findingsOf(error, subject, path));
  }
}

/** DSSE calls the key id a hint. The payload names the signer, and an envelope that contradicts it is refused. */
function refuseForeignKeyIds({ signatures }: DsseEnvelope, named: string): void {
  if (signatures.some(({ keyId }) => (keyId ?? named) === named)) return;
  const message = `no signature has the key id ${JSON.stringify(named)} that the statement names`;
  throw new DrillproofError('dsse.KEYID_MISMATCH', message, { path: '/signatures' });
}

function buildEnvelopeSigned<S extends AnyStatement>(envelope: DsseEnvelope, statement: S): Signed<S> {
  const { message, signatures } = buildSignedMessage(envelope);
  return {
    statement,
    message,
    signatures: signatures.map(({ keyId, signature }, at) =>
      decodeSignature({ path: `/signatures/${at}/sig`, keyId, decode: () => signature }, statement.keyId),
    ),
  };
}

/** DSSE envelopes to verify with evidence: one, or an array of at most 10,000. */
export type Envelopes = Uint8Array | readonly Uint8Array[];

/** An envelope that the caller gave, and the path of findings about it: it has no name of its own. */
export type GivenEnvelope = { readonly path: string; readonly bytes: Uint8Array };

/** The most envelopes for one part or export (formats, Limits). */
export const MAX_ENVELOPES = 10_000;

export const ENVELOPES: Kind<Envelopes> = {
  what: `a Uint8Array, or an array of at most ${MAX_ENVELOPES}`,
  accepts: (value) =>
    BYTES.accepts(value) ||
    (Array.isArray(value) && value.length <= MAX_ENVELOPES && value.every(BYTES.accepts)),
};

export const nameEnvelope = (bytes: Uint8Array): GivenEnvelope => ({ path: 'dsse', bytes });

/** The envelopes from the caller with their paths: `dsse`, or `dsse/0`, `dsse/1`, … if there are several. */
export function readEnvelopeOptions(dsse: Envelopes = []): readonly GivenEnvelope[] {
  const all = dsse instanceof Uint8Array ? [dsse] : dsse;
  const [first] = all;
  if (all.length === 1 && first !== undefined) return [nameEnvelope(first)];
  return all.map((bytes, at) => ({ path: `dsse/${at}`, bytes }));
}

/** The envelopes from the caller, by the subject that they name. None of them is verified yet. */
export type SortedEnvelopes = {
  /** About the list of bundles, or about no bundle: those fail with their own code when they are verified. */
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
    const subject = readSubject(envelope, settings);
    const ofPart = parts.get(subject?.digest ?? '');
    if (subject === undefined || subject.digest === manifestDigest) list.push(envelope);
    else if (ofPart !== undefined) ofPart.push(envelope);
    else if (subject.onBundle) stray.push({ ...envelope, digest: subject.digest });
    else list.push(envelope);
  }
  return { list, parts, stray };
}

function readSubject({ bytes }: GivenEnvelope, settings: Settings) {
  try {
    const { digest, predicateType } = readDsseSubject(
      parseDsse(bytes, { maxBytes: settings.limits.documentBytes }),
    );
    return { digest, onBundle: listTypes(settings, 'evidence').includes(predicateType) };
  } catch {
    return undefined; // its verification reports what is wrong
  }
}
