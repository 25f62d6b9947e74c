import * as z from 'zod/mini';
import { canonicalBytes } from '../bytes/json/canonical.ts';
import { formatJsonPointer, parseJson } from '../bytes/json/parse.ts';
import { fromBase64, toBase64, toUtf8 } from '../bytes/text/encoding.ts';
import { textSchema } from '../contract/scalars.ts';
import { typeValue } from '../contract/type-value.ts';
import { DrillproofError, LimitError } from '../errors.ts';
import { signChecked, type Signer } from './key/signer.ts';

/** One signature of an envelope: over `encodePreAuth` of its payload type and payload. */
export type DsseSignature = {
  /** A hint that is not signed. Absent and empty are the same (DSSE 1.0.2, envelope, Parsing rules). */
  readonly keyId?: string | undefined;
  /** In DER; whether it is strict is checked during verification. */
  readonly signature: Uint8Array;
};

/** Bytes and their signatures, from any document. */
export type SignedMessage = {
  readonly message: Uint8Array;
  readonly signatures: readonly DsseSignature[];
};

/** A DSSE envelope, decoded and not verified. */
export type DsseEnvelope = {
  readonly payloadType: string;
  readonly payload: Uint8Array;
  readonly signatures: readonly [DsseSignature, ...DsseSignature[]];
};

const MAX_SIGNATURES = 64;

/** Base64 as DSSE allows it: one of the two alphabets of RFC 4648, padded, and nothing else. */
const base64Schema = z.pipe(
  z.string(),
  z.transform((value, context) => {
    const mixed = /[-_]/.test(value) && /[+/]/.test(value);
    const bytes = mixed ? undefined : fromBase64(value.replaceAll('-', '+').replaceAll('_', '/'));
    if (bytes !== undefined) return bytes;
    context.issues.push({
      code: 'custom',
      input: value,
      message: 'must be base64 of one alphabet, padded, without white space, its spare bits zero',
    });
    return z.NEVER;
  }),
);

// DSSE requires that unknown members are ignored. Only signed bytes decide.
const signatureSchema = z.object({ keyid: z.exactOptional(textSchema(0, 256)), sig: base64Schema });
const envelopeSchema = z.object({
  payloadType: textSchema(1, 1024),
  payload: base64Schema,
  signatures: z.tuple([signatureSchema], signatureSchema),
});
const manySchema = z.object({ signatures: z.array(z.unknown()) });

/** The bytes that were signed in an envelope, and their signatures. */
export const buildSignedMessage = ({ payloadType, payload, signatures }: DsseEnvelope): SignedMessage => ({
  message: encodePreAuth(payloadType, payload),
  signatures,
});

/**
 * Parses a DSSE envelope (DSSE 1.0.2): strict JSON, base64 of either alphabet with padding, at least one signature.
 * Members that DSSE does not name are ignored. The envelope has at most `maxBytes`.
 * @throws DrillproofError `dsse.INVALID` with every broken rule in `details.issues`, and what `parseJson` throws
 * @throws LimitError `dsse.SIGNATURES_EXCEEDED`, `json.TOO_LARGE`
 */
export function parseDsse(bytes: Uint8Array, { maxBytes = 1024 * 1024 } = {}): DsseEnvelope {
  const value = parseJson(bytes, { maxBytes });
  const many = manySchema.safeParse(value).data?.signatures.length ?? 0;
  if (many > MAX_SIGNATURES)
    throw new LimitError('dsse.SIGNATURES_EXCEEDED', `${many} signatures, more than ${MAX_SIGNATURES}`);
  const read = typeValue(envelopeSchema, value);
  if (!read.success) throw envelopeError(read.error);
  const { payloadType, payload, signatures } = read.data;
  const [first, ...rest] = signatures;
  return { payloadType, payload, signatures: [readSignature(first), ...rest.map(readSignature)] };
}

const readSignature = ({ keyid, sig }: z.infer<typeof signatureSchema>): DsseSignature =>
  keyid === undefined || keyid === '' ? { signature: sig } : { keyId: keyid, signature: sig };

function envelopeError({ issues }: z.core.$ZodError): DrillproofError {
  const faults = issues.map(({ path, message }) => ({ path: formatJsonPointer(path), message }));
  const [first = { path: '', message: 'it is not an envelope' }] = faults;
  return new DrillproofError('dsse.INVALID', first.message, {
    path: first.path,
    details: { issues: faults },
  });
}

/**
 * PAE, the bytes that a signature of an envelope is over: `DSSEv1`, then length and bytes of the type and of the
 * payload, all separated by one space (DSSE 1.0.2, protocol).
 */
export function encodePreAuth(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = toUtf8(payloadType);
  const head = [...toUtf8(`DSSEv1 ${type.length} `), ...type, ...toUtf8(` ${payload.length} `)];
  const bytes = new Uint8Array(head.length + payload.length);
  bytes.set(head);
  bytes.set(payload, head.length);
  return bytes;
}

/**
 * Signs a payload with every one of these signers, in order; each signature carries the key id of its signer.
 * @throws DrillproofError `trust.SIGNER_FAULT` for a signature that does not verify, and what the signers throw
 */
export async function signDsse(
  { payloadType, payload }: Pick<DsseEnvelope, 'payloadType' | 'payload'>,
  signers: readonly [Signer, ...Signer[]],
): Promise<DsseEnvelope> {
  const message = encodePreAuth(payloadType, payload);
  const sign = async (signer: Signer): Promise<DsseSignature> => ({
    keyId: signer.keyId,
    signature: await signChecked(signer, message),
  });
  const [first, ...others] = signers;
  const signatures: [DsseSignature, ...DsseSignature[]] = [await sign(first)];
  for (const signer of others) signatures.push(await sign(signer));
  return { payloadType, payload, signatures };
}

/** The envelope as bytes that every implementation of DSSE reads: canonical JSON, base64 of the standard alphabet. */
export const encodeDsse = ({ payloadType, payload, signatures }: DsseEnvelope): Uint8Array =>
  canonicalBytes({
    payload: toBase64(payload),
    payloadType,
    signatures: signatures.map(({ keyId = '', signature }) => ({ keyid: keyId, sig: toBase64(signature) })),
  });
