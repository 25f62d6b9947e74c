import * as z from 'zod/mini';
import { toBase64url } from '../../../src/bytes/text/encoding.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import {
  VALID,
  type VectorCase,
  accepts,
  base64Schema,
  digestTextSchema,
  hexSchema,
  refused,
} from '../../kind.ts';
import { base64Of, hexOf, utf8 } from '../../make/bytes.ts';
import { publicPem } from '../../make/key-files.ts';
import { keyId, pointOf, scalarOf, storeKey } from '../../make/keys.ts';

export const inputSchema = z.strictObject({
  base64: base64Schema.check(z.describe('the bytes of the file')),
  use: z.enum(['verify', 'sign']).check(z.describe('whether a public or a private key is wanted')),
});

export const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    point: hexSchema.check(z.describe('the public key, uncompressed')),
    keyId: digestTextSchema,
    notBeforeMs: z.optional(z.int()),
    notAfterMs: z.optional(z.int()),
    fromCertificate: z.optional(z.literal(true)),
  }),
);

export type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

type Use = Case['input']['use'];

export const NAME = 'a';

export const caseOf = (
  use: Use,
  id: string,
  file: Uint8Array | string,
  flag: Flag,
  comment: string,
  expected: Case['expected'],
): Case => ({
  id: `${use}-${id}`,
  comment,
  flags: [flag],
  input: { base64: base64Of(typeof file === 'string' ? utf8(file) : file), use },
  expected,
});

const key = { ...VALID, point: hexOf(pointOf(NAME)), keyId: keyId(NAME) };

export const reads = (use: Use, id: string, file: string, comment: string): Case =>
  caseOf(use, id, file, 'Usual', comment, key);

export const refuses =
  (use: Use) =>
  (id: string, file: Uint8Array | string, code: Code, flag: Flag, comment: string): Case =>
    caseOf(use, id, file, flag, comment, refused(code));

/** The key as a single JWK, with other members in addition or instead. */
export const jwk = (changes: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify(storeKey(NAME, { issuer: undefined, ...changes }));

export const d = toBase64url(scalarOf(NAME));

export const point = pointOf(NAME);

export const publicFile = publicPem(NAME);
