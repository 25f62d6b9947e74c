import * as z from 'zod/mini';
import { toBase64url } from '../../../src/bytes/text/encoding.ts';
import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import type { JsonObject } from '../../../src/bytes/json/parse.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { type VectorCase, judged, judgementSchema } from '../../kind.ts';
import { type BundleChoices, T, bundle } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { signDer, storeKey, storeText } from '../../make/keys.ts';
import type { Patch } from '../../make/patch.ts';
import { numbersOf } from '../../make/signatures.ts';

const RESULTS = ['valid', 'not_checked', 'invalid'] as const;

export const inputSchema = z.strictObject({
  attestation: z.string().check(z.describe('attestation.json as text; its bytes are the UTF-8 of it')),
  trust: z.optional(z.string()).check(z.describe('the trust store as JSON text; absent when none is given')),
  asOfMs: z.int(),
  projectId: z.optional(z.string()),
  organizationId: z.optional(z.string()),
  manifestDigest: z
    .optional(z.string())
    .check(z.describe('of the bundle manifest next to it, when there is one')),
});

export const expectedSchema = judgementSchema(RESULTS);

export type Input = z.infer<typeof inputSchema>;

export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

type Result = (typeof RESULTS)[number];

export const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', changes));

export const made = (choices: BundleChoices = {}): JsonObject =>
  bundle(1, { signer: 'a', ...choices }).attestation ?? {};

export const sound = canonicalJson(made());

export const DIGEST = sha256Of(bundle(1).manifestBytes);

export const judge = (
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
  input: { attestation: sound, trust: trusting(), asOfMs: T, manifestDigest: DIGEST, ...input },
  expected: judged(result, codes),
});

export const valid = (
  id: string,
  input: Partial<Input>,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case => judge('valid', id, input, codes, flag, comment);

export const invalid = (
  id: string,
  input: Partial<Input>,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case => judge('invalid', id, input, codes, flag, comment);

/** Signed with this change of the statement. */
export const signing = (statement: Patch): Partial<Input> => ({
  attestation: canonicalJson(made({ statement })),
});

/** Changed after it was signed. */
export const changing = (attestation: Patch): Partial<Input> => ({
  attestation: canonicalJson(made({ attestation })),
});

export const withSignature = (der: Uint8Array | string): Partial<Input> =>
  changing({ '/signature': typeof der === 'string' ? der : toBase64url(der) });

export const message = new TextEncoder().encode(canonicalJson(made()['statement']));

export const der = signDer('a', message);

export const [r, s] = numbersOf(der);
