import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { RawEntry } from '../../../test/zip/raw-zip.ts';
import type { Flag } from '../../flags.ts';
import {
  type CoverageFigures,
  type VectorCase,
  asksCoverage,
  base64Schema,
  coverageSchema,
  digestTextSchema,
  judged,
  judgementSchema,
} from '../../kind.ts';
import { type BundleChoices, type NamedBytes, T, bundle } from '../../make/bundle.ts';
import { base64Of, sha256Of } from '../../make/bytes.ts';
import { storeKey, storeText } from '../../make/keys.ts';

export const RESULTS = ['verified', 'intact', 'incomplete', 'failed'] as const;

export const inputSchema = z.strictObject({
  zip: base64Schema,
  sha256: digestTextSchema.check(z.describe('of the archive, to know that it was decoded right')),
  trust: z.optional(z.string()).check(z.describe('the trust store as JSON text; absent when none is given')),
  asOfMs: z.int(),
  coverage: asksCoverage,
  expect: z.optional(
    z.strictObject({
      manifestDigest: z.optional(digestTextSchema),
      organizationId: z.optional(z.string()),
      projectId: z.optional(z.string()),
    }),
  ),
});

export const expectedSchema = z.extend(judgementSchema(RESULTS), { coverage: coverageSchema });

export type Input = z.infer<typeof inputSchema>;

export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

export type Result = (typeof RESULTS)[number];

export const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', changes));

export const judge = (
  result: Result,
  id: string,
  zip: Uint8Array,
  input: Partial<Input>,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { zip: base64Of(zip), sha256: sha256Of(zip), trust: trusting(), asOfMs: T, ...input },
  expected: judged(result, codes),
});

export const signedZip = (choices: BundleChoices = {}): Uint8Array =>
  bundle(1, { signer: 'a', ...choices }).zip;

export const verified = (
  id: string,
  choices: BundleChoices,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case => judge('verified', id, signedZip(choices), {}, codes, flag, comment);

export const failed = (
  id: string,
  choices: BundleChoices,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case => judge('failed', id, signedZip(choices), {}, codes, flag, comment);

type Entries = readonly (NamedBytes & Partial<RawEntry>)[];

/** One entry replaced, or taken away. */
export const replacing =
  (name: string, change: (one: NamedBytes) => Entries) =>
  (entries: readonly NamedBytes[]): Entries =>
    entries.flatMap((one) => (one.name === name ? change(one) : [one]));

export const without = (name: string): BundleChoices => ({ entries: replacing(name, () => []) });

export const changing = (name: string, bytes: (before: Uint8Array) => Uint8Array): BundleChoices => ({
  entries: replacing(name, (one) => [{ name, bytes: bytes(one.bytes) }]),
});

export const STATE = 'objects/state.json';

export const MANIFEST = 'manifest.json';

export const ATTESTATION = 'attestation.json';

/** A bundle, and how far digests and signatures reach into it. */
export const covering = (one: Case, coverage: NonNullable<CoverageFigures>): Case => ({
  ...one,
  input: { ...one.input, coverage: true },
  expected: { ...one.expected, coverage },
});
