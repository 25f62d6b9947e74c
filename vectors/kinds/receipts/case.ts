import * as z from 'zod';
import type { Code } from '../../../src/codes/index.ts';
import type { Flag } from '../../flags.ts';
import { digestTextSchema, judgementSchema, sortedCodes, type VectorCase } from '../../kind.ts';
import { T } from '../../make/bundle.ts';
import { storeKey, storeText } from '../../make/keys.ts';

export const inputSchema = z.strictObject({
  files: z
    .record(z.string(), z.string())
    .describe('manifest.json, receipts and envelopes of one mirror as text, by path from its root'),
  single: z.string().optional().describe('the path of a receipt that is judged by itself'),
  trust: z.string().optional().describe('the trust store as JSON text; absent when none is given'),
  asOfMs: z.int(),
  expectHead: digestTextSchema.optional().describe('the digest of a receipt that the chain must hold'),
});

export const expectedSchema = judgementSchema(['valid', 'invalid']).extend({
  firstSeenAtMs: z
    .int()
    .optional()
    .describe('from when at the latest the export was there, on the word of a trusted key in force'),
});

type Input = z.infer<typeof inputSchema>;
export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

/** The store that trusts key b for receipts. */
export const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('b', { purposes: ['receipt'], ...changes }));

type Words = { readonly flag: Flag; readonly comment: string };

export const sound = (
  id: string,
  input: Partial<Input> & Pick<Input, 'files'>,
  codes: readonly Code[],
  { flag, comment }: Words,
  firstSeenAtMs?: number,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { asOfMs: T, ...input },
  expected: {
    verdict: 'valid',
    result: 'valid',
    codes: sortedCodes(codes),
    ...(firstSeenAtMs !== undefined && { firstSeenAtMs }),
  },
});

export const broken = (
  id: string,
  input: Partial<Input> & Pick<Input, 'files'>,
  codes: readonly Code[],
  { flag, comment }: Words,
  firstSeenAtMs?: number,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { asOfMs: T, ...input },
  expected: {
    verdict: 'invalid',
    result: 'invalid',
    codes: sortedCodes(codes),
    ...(firstSeenAtMs !== undefined && { firstSeenAtMs }),
  },
});
