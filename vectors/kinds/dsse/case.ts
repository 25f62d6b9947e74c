import * as z from 'zod/mini';
import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../../src/bytes/json/parse.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { base64Schema, judged, judgementSchema, type VectorCase } from '../../kind.ts';
import { bundle, T } from '../../make/bundle.ts';
import { utf8 } from '../../make/bytes.ts';
import { keyId, signDer, storeKey, storeText } from '../../make/keys.ts';
import { patched, type Patch } from '../../make/patch.ts';

const RESULTS = ['valid', 'not_checked', 'invalid', 'verified', 'intact', 'incomplete', 'failed'] as const;

export { T };

export const inputSchema = z.strictObject({
  envelope: z.string().check(z.describe('the envelope as text; its bytes are the UTF-8 of it')),
  trust: z.optional(z.string()).check(z.describe('the trust store as JSON text; absent when none is given')),
  asOfMs: z.int(),
  purpose: z.optional(z.enum(['evidence', 'export'])).check(z.describe('what it is about; default evidence')),
  threshold: z.optional(z.int()).check(z.describe('how many different keys must have signed; default 1')),
  manifest: z.optional(z.string()).check(z.describe('the manifest.json that it must be about, as text')),
  part: z
    .optional(base64Schema)
    .check(z.describe('a part archive that is verified with the envelope; the result is then its verdict')),
});

export const expectedSchema = judgementSchema(RESULTS);

export type Input = z.infer<typeof inputSchema>;

export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

type Result = (typeof RESULTS)[number];

export const EVIDENCE = bundle(1, { signer: 'a' });
export const MANIFEST = new TextDecoder().decode(EVIDENCE.manifestBytes);
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/** Base64 of the standard alphabet, padded. */
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** The bytes that an envelope signs. */
export const pae = (payload: Uint8Array, type = PAYLOAD_TYPE): Uint8Array =>
  Uint8Array.from(Buffer.concat([utf8(`DSSEv1 ${utf8(type).length} ${type} ${payload.length} `), payload]));

/** The statement about the bundle of that number, by the key of that name. */
export const statement = (signer = 'a', n = 1, patch: Patch = {}): JsonObject => {
  const made = bundle(n, { signer }).attestation?.['statement'];
  return patched(z.record(z.string(), z.json()).parse(made), patch);
};

/** An in-toto statement about a statement of ours. */
export const inToto = (predicate: JsonObject, patch: Patch = {}): JsonObject => {
  const { manifestDigest } = z.looseObject({ manifestDigest: z.string() }).parse(predicate['subject']);
  return patched(
    {
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'manifest.json', digest: { sha256: manifestDigest.replace('sha256:', '') } }],
      predicateType: predicate['predicateType'] ?? '',
      predicate,
    },
    patch,
  );
};

export const payloadOf = (value: JsonValue): Uint8Array => utf8(canonicalJson(value));
export const PAYLOAD = payloadOf(inToto(statement()));

/** A signature over a payload by the key of that name. */
export const signature = (signer: string, payload = PAYLOAD, keyid = keyId(signer)): JsonObject => ({
  keyid,
  sig: base64(signDer(signer, pae(payload))),
});

/** An envelope of the payload by these keys, changed after it was signed. */
export const envelope = (payload = PAYLOAD, signers: readonly string[] = ['a'], patch: Patch = {}): string =>
  canonicalJson(
    patched(
      {
        payload: base64(payload),
        payloadType: PAYLOAD_TYPE,
        signatures: signers.map((signer) => signature(signer, payload)),
      },
      patch,
    ),
  );

/** The usual envelope, changed after it was signed. */
export const changed = (patch: Patch): Partial<Input> => ({ envelope: envelope(PAYLOAD, ['a'], patch) });

/** An envelope of a different payload, signed as it is. */
export const of = (value: JsonValue, signers?: readonly string[]): Partial<Input> => ({
  envelope: envelope(payloadOf(value), signers),
});

export const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', changes));
export const trustingBoth = storeText(storeKey('a'), storeKey('b'));

const judge = (
  result: Result,
  id: string,
  input: Partial<Input>,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { envelope: envelope(), trust: trusting(), asOfMs: T, manifest: MANIFEST, ...input },
  expected: judged(result, codes),
});

type Maker = (
  id: string,
  input: Partial<Input>,
  flag: Flag,
  comment: string,
  ...codes: readonly Code[]
) => Case;

export const results =
  (result: Result): Maker =>
  (id, input, flag, comment, ...codes) =>
    judge(result, id, input, codes, flag, comment);
export const valid = results('valid');
export const invalid = results('invalid');
