import * as z from 'zod/mini';
import { toBase64url } from '../../../src/bytes/text/encoding.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { VALID, type VectorCase, accepts, base64Schema, refused } from '../../kind.ts';
import { base64Of, utf8 } from '../../make/bytes.ts';
import { ISSUER, keyId, storeKey, storeText } from '../../make/keys.ts';

export const inputSchema = z.strictObject({
  base64: base64Schema.check(z.describe('the bytes of the trust store')),
});

export const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    keys: z.array(
      z.strictObject({
        issuer: z.string(),
        keyId: z.string(),
        purposes: z.array(z.string()),
        compromised: z.boolean(),
      }),
    ),
  }),
);

export type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

type Row = { issuer: string; keyId: string; purposes: string[]; compromised: boolean };

type Changes = Readonly<Record<string, unknown>>;

export const row = (name: string, changes: Partial<Row> = {}): Row => ({
  issuer: ISSUER,
  keyId: keyId(name),
  purposes: ['evidence'],
  compromised: true,
  ...changes,
});

export const good = (id: string, text: string, keys: Row[], comment: string): Case => ({
  id,
  comment,
  flags: ['Usual'],
  input: { base64: base64Of(utf8(text)) },
  expected: { ...VALID, keys },
});

export const bad = (
  id: string,
  text: string | Uint8Array,
  code: Code,
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { base64: base64Of(typeof text === 'string' ? utf8(text) : text) },
  expected: refused(code),
});

/** A store of one key with other members, which is refused. */
export const badKey = (id: string, changes: Changes, code: Code, flag: Flag, comment: string): Case =>
  bad(`key-${id}`, storeText(storeKey('a', changes)), code, flag, comment);

export const one = storeText(storeKey('a'));

export const x = (bytes: Uint8Array): string => toBase64url(bytes);
