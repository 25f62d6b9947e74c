import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { digestTextSchema, judgementSchema, sortedCodes, type VectorCase } from '../../kind.ts';

export const inputSchema = z.strictObject({
  files: z
    .record(z.string(), z.string())
    .check(z.describe('manifest.json and receipts of one mirror as text, by path from its root')),
  single: z.optional(z.string()).check(z.describe('the path of a receipt that is verified by itself')),
  expectHead: z
    .optional(digestTextSchema)
    .check(z.describe('the digest of a receipt that the chain must hold')),
});

export const expectedSchema = judgementSchema(['valid', 'invalid']);

type Input = z.infer<typeof inputSchema>;
export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

type Words = { readonly flag: Flag; readonly comment: string };

const caseOf =
  (result: 'valid' | 'invalid') =>
  (id: string, input: Input, codes: readonly Code[], { flag, comment }: Words): Case => ({
    id,
    comment,
    flags: [flag],
    input,
    expected: { verdict: result, result, codes: sortedCodes(codes) },
  });

export const sound = caseOf('valid');
export const broken = caseOf('invalid');
