import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import {
  type CoverageFigures,
  type VectorCase,
  asksCoverage,
  base64Schema,
  coverageSchema,
  codeSchema,
  digestTextSchema,
  sortedCodes,
} from '../../kind.ts';
import { T, bundle } from '../../make/bundle.ts';
import { base64Of, sha256Of, utf8 } from '../../make/bytes.ts';
import { type ExportChoices, type Files, makeExport } from '../../make/export.ts';
import { storeKey, storeText } from '../../make/keys.ts';
import { RESULTS } from '../bundles/case.ts';

const COMPLETENESS = ['pinned', 'attested', 'claimed'] as const;

export const inputSchema = z.strictObject({
  files: z
    .optional(z.record(z.string(), base64Schema))
    .check(
      z.describe(
        'the tree, by path from its root; with bagit.txt it is a BagIt bag and the export lies under data/',
      ),
    ),
  irregular: z
    .optional(z.array(z.string()))
    .check(z.describe('paths where a link or device lies instead of a file')),
  zip: z.optional(base64Schema).check(z.describe('the tree as one ZIP, in place of files')),
  trust: z.optional(z.string()).check(z.describe('the trust store as JSON text; absent when none is given')),
  asOfMs: z.int(),
  coverage: asksCoverage,
  depth: z.optional(z.enum(['full', 'digest'])).check(z.describe('full when absent')),
  expect: z.optional(
    z.strictObject({
      manifestDigest: z.optional(digestTextSchema),
      evidenceExportId: z.optional(z.string()),
      organizationId: z.optional(z.string()),
      projectId: z.optional(z.string()),
      bundles: z.optional(z.int()),
    }),
  ),
  envelopes: z
    .optional(z.array(z.string()))
    .check(
      z.describe('DSSE envelopes that the caller gives next to it, as text; their bytes are the UTF-8 of it'),
    ),
  limits: z.optional(z.strictObject({ parts: z.optional(z.int()), files: z.optional(z.int()) })),
});

export const expectedSchema = z.strictObject({
  verdict: z.enum(['valid', 'invalid']),
  result: z.enum(RESULTS),
  completeness: z.enum(COMPLETENESS),
  codes: z
    .array(codeSchema)
    .check(z.describe('distinct codes of all findings, of parts and reports too, sorted')),
  coverage: coverageSchema,
});

export type Input = z.infer<typeof inputSchema>;

export type Expected = z.infer<typeof expectedSchema>;

export type Case = VectorCase<Input, Expected>;

type Result = Expected['result'];

const TRUST = storeText(storeKey('a', { purposes: ['evidence', 'export'] }));

export const UNATTESTED = 'local-report.UNATTESTED';

export const CLAIMED = 'export.COMPLETENESS_CLAIMED';

export const filesOf = (files: Files): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, base64Of(bytes)]));

type Expectation = {
  readonly coverage?: CoverageFigures;
  readonly result: Result;
  readonly completeness?: Expected['completeness'];
  readonly codes: readonly Code[];
};

export const judge = (
  id: string,
  input: Partial<Input>,
  { result, completeness = 'attested', codes, coverage }: Expectation,
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { trust: TRUST, asOfMs: T, ...(coverage && { coverage: true as const }), ...input },
  expected: {
    verdict: result === 'verified' || result === 'intact' ? 'valid' : 'invalid',
    result,
    completeness,
    codes: sortedCodes(codes),
    ...(coverage && { coverage }),
  },
});

export const tree = (choices: ExportChoices = {}): Pick<Input, 'files'> => ({
  files: filesOf(makeExport(choices).files),
});

/** An export that fails with these codes, in addition to that of its local report; its list is signed and trusted. */
export const failed = (
  id: string,
  choices: ExportChoices,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case => judge(id, tree(choices), { result: 'failed', codes: [UNATTESTED, ...codes] }, flag, comment);

/** The same where no trusted key signed the list. */
export const unvouched = (
  id: string,
  choices: ExportChoices,
  flag: Flag,
  comment: string,
  ...codes: Code[]
): Case =>
  judge(
    id,
    tree(choices),
    { result: 'failed', completeness: 'claimed', codes: [CLAIMED, UNATTESTED, ...codes] },
    flag,
    comment,
  );

export const changing = (path: string, change: (bytes: Uint8Array) => Uint8Array): ExportChoices => ({
  files: (files) => ({ ...files, [path]: change(files[path] ?? new Uint8Array()) }),
});

export const without = (path: string): ExportChoices => ({
  files: (files) => Object.fromEntries(Object.entries(files).filter(([name]) => name !== path)),
});

export const adding = (path: string, bytes: Uint8Array | string): ExportChoices => ({
  files: (files) => ({ ...files, [path]: typeof bytes === 'string' ? utf8(bytes) : bytes }),
});

export const DIGEST = sha256Of(makeExport().manifestBytes);

export const TWO = [bundle(1, { signer: 'a' }), bundle(2, { signer: 'a' })];
