import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { type VectorCase, codeSchema, sortedCodes } from '../../kind.ts';
import { ISSUER, keyId, storeKey, storeText } from '../../make/keys.ts';

export const inputSchema = z.strictObject({
  trust: z.string().check(z.describe('the trust store, as JSON text')),
  statement: z.strictObject({
    issuer: z.string(),
    keyId: z.string(),
    issuedAtMs: z.int(),
    purpose: z.enum(['evidence', 'export', 'summary', 'receipt']),
    projectId: z.optional(z.string()).check(z.describe('absent when it is not known')),
    organizationId: z.optional(z.string()).check(z.describe('absent when it is not known')),
    asOfMs: z.optional(z.int()).check(z.describe('the time of the verification')),
  }),
});

export const expectedSchema = z.strictObject({
  verdict: z
    .enum(['valid', 'invalid'])
    .check(z.describe('whether a key is valid for the statement, apart from what is unchecked')),
  codes: z.array(codeSchema).check(z.describe('every reason against it and every note, sorted')),
  unchecked: z.array(z.enum(['project', 'organization'])),
});

export type Input = z.infer<typeof inputSchema>;

export type Expected = z.infer<typeof expectedSchema>;

export type Case = VectorCase<Input, Expected>;

type Changes = Readonly<Record<string, unknown>>;

export const T = 1_767_225_600_000;

export const PROJECT = 'prj_000000000001';

export const ORGANIZATION = 'org_000000000001';

type Setting = {
  readonly key?: Changes;
  /** The same key under another name. */
  readonly alias?: Changes;
  readonly statement?: Partial<Input['statement']>;
  readonly unchecked?: Expected['unchecked'];
};

const caseOf = (
  verdict: Expected['verdict'],
  id: string,
  { key, alias, statement, unchecked = [] }: Setting,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: {
    trust: storeText(storeKey('a', key), ...(alias === undefined ? [] : [storeKey('a', alias)])),
    statement: {
      issuer: ISSUER,
      keyId: keyId('a'),
      issuedAtMs: T,
      purpose: 'evidence',
      asOfMs: T,
      ...statement,
    },
  },
  expected: { verdict, codes: sortedCodes(codes), unchecked },
});

export const accepts = (id: string, setting: Setting, flag: Flag, comment: string, ...notes: Code[]): Case =>
  caseOf('valid', id, setting, notes, flag, comment);

export const refuses = (id: string, setting: Setting, flag: Flag, comment: string, ...codes: Code[]): Case =>
  caseOf('invalid', id, setting, codes, flag, comment);
