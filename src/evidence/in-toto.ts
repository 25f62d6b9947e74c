import * as z from 'zod/mini';
import { canonicalBytes } from '../bytes/json/canonical.ts';
import type { Digest } from '../bytes/hash.ts';
import { parseJson } from '../bytes/json/parse.ts';
import type { Code } from '../codes/catalogue.ts';
import { attestationSchema, exportAttestationSchema } from '../contract/resources/attestation.ts';
import { DrillproofError } from '../errors.ts';
import { type DsseEnvelope, signDsse } from '../trust/dsse.ts';
import type { Signer } from '../trust/key/signer.ts';
import { BUNDLE_MANIFEST } from './bundle/part.ts';
import { typeStatement, type ExportStatement, type Statement } from './bundle/attestation.ts';
import { typeDocument } from './document.ts';

/** The payload type of an in-toto statement in DSSE. */
export const IN_TOTO_PAYLOAD_TYPE = 'application/vnd.in-toto+json';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';

/** An in-toto Statement v1 about one manifest (formats §2, DSSE). */
export type InTotoStatement<P> = {
  readonly _type: typeof STATEMENT_TYPE;
  readonly subject: readonly [{ readonly name: string; readonly digest: { readonly sha256: string } }];
  readonly predicateType: string;
  readonly predicate: P;
};

/** An in-toto statement whose only subject is a file of this digest, by default a `manifest.json`. */
export const buildInTotoStatement = <P>(
  digest: string,
  predicateType: string,
  predicate: P,
  name = BUNDLE_MANIFEST,
): InTotoStatement<P> => ({
  _type: STATEMENT_TYPE,
  subject: [{ name, digest: { sha256: digest.replace(/^sha256:/, '') } }],
  predicateType,
  predicate,
});

const manifestName = z.literal(BUNDLE_MANIFEST);

/** Closed, although in-toto requires open: an unknown signed member could be a restriction that would be ignored. */
export const buildStatementSchema = <P extends z.ZodMiniType>(
  predicate: P,
  name: z.ZodMiniType<string> = manifestName,
  predicateType: z.ZodMiniType<string> = z.string(),
) =>
  z.strictObject({
    _type: z.literal(STATEMENT_TYPE),
    subject: z.tuple([
      z.strictObject({
        name,
        digest: z.strictObject({ sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)) }),
      }),
    ]),
    predicateType,
    predicate,
  });

const evidenceSchema = buildStatementSchema(attestationSchema.shape.statement);
const exportSchema = buildStatementSchema(exportAttestationSchema.shape.statement);
const openSchema = buildStatementSchema(z.unknown(), z.string());

/**
 * The statement about a bundle in an envelope: its payload is an in-toto Statement v1, the predicate is a statement of
 * ours, and both have one predicate type and are about one manifest (formats §2, DSSE). No signature is verified.
 * @param accepted the predicate types that are accepted
 * @throws DrillproofError `dsse.PAYLOAD_TYPE_UNSUPPORTED`, `dsse.STATEMENT_INVALID`, `dsse.SUBJECT_MISMATCH`,
 *   `attestation.PREDICATE_UNSUPPORTED`, and what `parseJson` throws
 */
export const readDsseStatement = (envelope: Content, accepted: readonly string[]): Statement =>
  read(envelope, evidenceSchema, accepted);

/** `readDsseStatement` for a statement about an export. */
export const readExportDsseStatement = (envelope: Content, accepted: readonly string[]): ExportStatement =>
  read(envelope, exportSchema, accepted);

/**
 * The subject that the in-toto statement in an envelope names. Neither signature nor predicate is checked.
 * @throws DrillproofError `dsse.PAYLOAD_TYPE_UNSUPPORTED`, `dsse.STATEMENT_INVALID`, and what `parseJson` throws
 */
export function readDsseSubject(envelope: Content): {
  readonly digest: Digest;
  readonly predicateType: string;
} {
  const { open } = openStatement(envelope);
  const [{ digest }] = open.subject;
  return { digest: `sha256:${digest.sha256}`, predicateType: open.predicateType };
}

type Content = Pick<DsseEnvelope, 'payloadType' | 'payload'>;
type Ours = { readonly predicateType: string; readonly subject: { readonly manifestDigest: string } };

function read<P extends Ours>(
  envelope: Content,
  schema: z.ZodMiniType<InTotoStatement<P>>,
  accepted: readonly string[],
): P {
  const { value, open } = openStatement(envelope);
  if (!accepted.includes(open.predicateType)) {
    const message = `the predicate is of type ${JSON.stringify(open.predicateType)}, not ${accepted.join(' or ')}`;
    throw statementError('attestation.PREDICATE_UNSUPPORTED', '/predicateType', message);
  }
  const statement = typeDocument(value, { schema, code: 'dsse.STATEMENT_INVALID' });
  refuseContradiction(statement);
  return statement.predicate;
}

/** @throws DrillproofError `dsse.PAYLOAD_TYPE_UNSUPPORTED` */
export function requireInToto({ payloadType }: Pick<Content, 'payloadType'>): void {
  if (payloadType === IN_TOTO_PAYLOAD_TYPE) return;
  const message = `the payload is of type ${JSON.stringify(payloadType)}, not ${IN_TOTO_PAYLOAD_TYPE}`;
  throw statementError('dsse.PAYLOAD_TYPE_UNSUPPORTED', '/payloadType', message);
}

/** The payload as JSON, and as an in-toto statement with any predicate. */
function openStatement(envelope: Content) {
  requireInToto(envelope);
  const value = parseJson(envelope.payload);
  return { value, open: typeDocument(value, { schema: openSchema, code: 'dsse.STATEMENT_INVALID' }) };
}

/** Facts that are inside and outside the predicate must be equal. */
function refuseContradiction({ predicateType, predicate, subject: [subject] }: InTotoStatement<Ours>): void {
  if (predicate.predicateType !== predicateType) {
    const message = 'the type of the predicate differs from that of the statement around it';
    throw statementError('dsse.STATEMENT_INVALID', '/predicate/predicateType', message);
  }
  if (predicate.subject.manifestDigest !== `sha256:${subject.digest.sha256}`) {
    const message = 'the subject of the predicate differs from that of the statement around it';
    throw statementError('dsse.SUBJECT_MISMATCH', '/subject/0/digest/sha256', message);
  }
}

const statementError = (code: Code, path: string, message: string): DrillproofError =>
  new DrillproofError(code, message, { path });

/**
 * Signs a statement about a bundle as an in-toto statement in a DSSE envelope. The first signer is the one that the
 * statement names; others sign the same.
 * @throws DrillproofError `pack.INPUT_INVALID` for a statement that verifiers would refuse, `trust.SIGNER_FAULT`, and
 *   what the signers throw
 */
export const attestDsse = (statement: Statement, signers: Signers): Promise<DsseEnvelope> =>
  signInToto(typeStatement(attestationSchema, statement), signers);

/** `attestDsse` for a statement about an export. */
export const attestExportDsse = (statement: ExportStatement, signers: Signers): Promise<DsseEnvelope> =>
  signInToto(typeStatement(exportAttestationSchema, statement), signers);

type Signers = readonly [Signer, ...Signer[]];

function signInToto(statement: Statement | ExportStatement, signers: Signers): Promise<DsseEnvelope> {
  if (statement.keyId !== signers[0].keyId)
    throw new TypeError('the key id of the statement differs from that of the first signer');
  const { manifestDigest } = statement.subject;
  const payload = canonicalBytes(buildInTotoStatement(manifestDigest, statement.predicateType, statement));
  return signDsse({ payloadType: IN_TOTO_PAYLOAD_TYPE, payload }, signers);
}
