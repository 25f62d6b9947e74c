import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import type { Code } from '../../codes/catalogue.ts';
import { optionalMember, atMsSchema, textSchema, typedDigestSchema } from '../../contract/scalars.ts';
import { buildStatementSchema } from '../../evidence/in-toto.ts';
import type { DsseEnvelope } from '../../trust/dsse.ts';
import type { Signer } from '../../trust/key/signer.ts';
import type { TrustStore } from '../../trust/store.ts';
import type { Purpose } from '../../trust/trusted-key.ts';
import { finding } from '../finding.ts';
import type { Finding } from '../report.ts';
import { type DocumentSignatures, verifyDocumentSignatures } from './count.ts';

/** The members of a signed document that names the one before it: a report, or a challenge. */
export const linkedMembers = {
  schemaVersion: z.literal(1),
  issuer: textSchema(1, 1024).check(z.describe('the name under which it is signed')),
  keyId: textSchema(1, 256).check(z.describe('the key of the first signature')),
  issuedAtMs: atMsSchema.check(z.describe('the time of the signature, as the signer states it')),
  sequence: z.int().check(z.gte(1), z.describe('place in the chain: 1 for the first')),
  previous: optionalMember(
    typedDigestSchema,
    'SHA-256 of the payload of the envelope before it; absent for the first',
  ),
};

export const isLinked = z.refine<{ sequence: number; previous?: Digest }>(
  ({ sequence, previous }) => (sequence === 1) === (previous === undefined),
  { path: ['previous'], message: 'only the first of a chain follows no other' },
);

/** The in-toto statement around a document of a chain. */
export const linkedStatement = <P extends z.ZodMiniType>(name: string, type: string, predicate: P) =>
  buildStatementSchema(predicate, z.literal(name), z.literal(type));

/** A document of a chain. `digest` is the SHA-256 of its payload, which the next one names. */
export type Linked = {
  readonly issuer: string;
  readonly keyId: string;
  readonly issuedAtMs: number;
  readonly sequence: number;
  readonly previous?: Digest;
  readonly digest: Digest;
};

export type LinkSigning = {
  readonly signer: Signer;
  readonly issuer: string;
  readonly issuedAtMs: number;
  readonly previous?: Pick<Linked, 'digest' | 'sequence'>;
};

/** The members of the next document of a chain. */
export const buildLink = ({ signer, issuer, issuedAtMs, previous }: LinkSigning) =>
  defined({
    schemaVersion: 1,
    issuer,
    keyId: signer.keyId,
    issuedAtMs,
    sequence: (previous?.sequence ?? 0) + 1,
    previous: previous?.digest,
  } as const);

type SignatureContext = {
  readonly asOfMs: number;
  readonly trust?: TrustStore;
  readonly purpose: Purpose;
};

/** The signatures of a document of a chain, which must not be from the future. */
export function checkLinkedSignatures(
  name: string,
  envelope: DsseEnvelope,
  {
    issuer,
    keyId,
    issuedAtMs,
    stampedAtMs,
  }: Pick<Linked, 'issuer' | 'keyId' | 'issuedAtMs'> & { readonly stampedAtMs?: number | undefined },
  { asOfMs, trust, purpose }: SignatureContext,
): DocumentSignatures {
  const future = {
    message: 'it was signed after the time of this verification',
    expected: `at most ${isoTime(asOfMs)}`,
    actual: isoTime(issuedAtMs),
  };
  const early = issuedAtMs <= asOfMs ? [] : [finding('attestation.ISSUED_IN_FUTURE', name, future)];
  const claim = { issuer, keyId, issuedAtMs, stampedAtMs, purpose, asOfMs };
  const { keys, findings } = verifyDocumentSignatures(envelope, claim, { subject: name, path: name, trust });
  return { keys, findings: [...findings, ...early] };
}

/** A document with the name that findings show. */
type Read = { readonly name: string; readonly signed: Linked };

type LinkContext = {
  readonly after?: Digest;
  readonly expectLast?: Digest;
  /** The word for a document. */
  readonly noun: string;
  readonly codes: Readonly<Record<'order' | 'fork' | 'mismatch' | 'missing' | 'last', Code>>;
};

/** Checks that each document follows the one before it, and both ends of the chain. */
export function checkLinks(read: readonly Read[], context: LinkContext): readonly Finding[] {
  const { expectLast, codes, noun } = context;
  const last = read.at(-1);
  const links = read.flatMap((_current, at) => checkLink(read, at, context));
  if (expectLast === undefined || last?.signed.digest === expectLast) return links;
  const message = `the last ${noun} is not the expected one`;
  const ends = defined({ expected: expectLast, actual: last?.signed.digest });
  return [...links, finding(codes.last, last?.name ?? 'chain', { message, ...ends })];
}

const LINK = '/predicate/previous';

function checkLink(read: readonly Read[], at: number, context: LinkContext): readonly Finding[] {
  const { name, signed } = read[at]!;
  const { after } = context;
  const before = read[at - 1];
  const expected = before === undefined ? after : before.signed.digest;
  if (signed.previous !== expected) {
    const [code, message] = explainBreak(read, signed, at, context);
    return [finding(code, name, { path: LINK, message, ...defined({ expected, actual: signed.previous }) })];
  }
  return before === undefined ? [] : checkOrder(name, before.signed, signed, context);
}

function explainBreak(
  read: readonly Read[],
  { previous, digest, sequence }: Linked,
  at: number,
  { codes, noun }: LinkContext,
): readonly [Code, string] {
  if (previous === undefined)
    return [codes.order, `it begins a chain, but it is not the first ${noun} that was given`];
  const siblings = read.slice(0, at).filter(({ signed }) => signed.previous === previous);
  if (siblings.some(({ signed }) => signed.digest !== digest))
    return [codes.fork, `it follows the same ${noun} as ${siblings[0]?.name}`];
  if (siblings.length > 0) return [codes.order, 'it was given twice'];
  const target = read.find(({ signed }) => signed.digest === previous);
  if (target !== undefined)
    return [codes.order, `it follows ${target.name}, which is not directly before it`];
  const place = read.find(({ signed }) => signed.sequence === sequence - 1);
  if (place !== undefined)
    return [codes.mismatch, `${place.name} has the previous number, but a different digest`];
  return [codes.missing, `${noun} ${sequence - 1} of the chain was not given`];
}

function checkOrder(
  name: string,
  before: Linked,
  signed: Linked,
  { codes, noun }: LinkContext,
): readonly Finding[] {
  const next = before.sequence + 1;
  const rows = [
    [signed.sequence === next, 'its number is not the next one', String(next), String(signed.sequence)],
    [
      signed.issuedAtMs >= before.issuedAtMs,
      `it was signed before the ${noun} that it follows`,
      `at least ${isoTime(before.issuedAtMs)}`,
      isoTime(signed.issuedAtMs),
    ],
  ] as const;
  return rows
    .filter(([holds]) => !holds)
    .map(([, message, expected, actual]) =>
      finding(codes.order, name, { path: LINK, message, expected, actual }),
    );
}
