import * as z from 'zod/mini';
import { digestSchema } from '../../src/contract/scalars.ts';
import { RETIREMENTS } from '../../src/trust/store.ts';
import { codeClassSchema, codeSchema } from '../../src/verify/report.ts';
import { TRUST_OUTCOMES } from '../../src/verify/signature/standing.ts';
import type { SchemaRow } from './schema.ts';

const count = z.int().check(z.gte(0));
const keyName = z.strictObject({ issuer: z.string(), keyId: z.string() });
const store = z.strictObject({ fingerprint: digestSchema, keys: z.int().check(z.gte(1)) });

const effect = z.strictObject({
  kind: z
    .enum(['bundle', 'list'])
    .check(z.describe('what is signed: a bundle, or the list of bundles of an export')),
  id: z.string(),
  path: z.exactOptional(z.string()).check(z.describe('the part in its export')),
  outcome: z
    .enum(TRUST_OUTCOMES)
    .check(
      z.describe(
        'stops: verifies now but not then; starts: verifies only then; stands: verifies in both; refused: in neither',
      ),
    ),
  signer: z.exactOptional(z.strictObject({ ...keyName.shape, issuedAtMs: z.int() })),
  codes: z
    .array(codeSchema)
    .check(z.describe('codes that only the changed store causes; all codes if unread or refused')),
});

const keyPlanSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('key-plan'),
  retire: z.strictObject({ ...keyName.shape, how: z.enum(RETIREMENTS), atMs: z.int() }),
  replacements: z.array(keyName),
  sameKey: z.array(keyName).check(z.describe('other names of the same key in the store')),
  asOfMs: z.int(),
  depth: z.enum(['attestations', 'full']),
  trust: z.strictObject({ before: store, after: store }),
  counts: z.strictObject({
    ...Object.fromEntries(TRUST_OUTCOMES.map((outcome) => [outcome, count])),
    unopened: count.check(z.describe('paths that could not be opened')),
    timeClaimed: count.check(z.describe('how many of those that stand would get attestation.TIME_CLAIMED')),
  }),
  results: z.array(
    z.union([
      z.strictObject({ path: z.string(), effects: z.array(effect) }),
      z.strictObject({
        path: z.string(),
        error: z.looseObject({ code: codeSchema, class: codeClassSchema, message: z.string() }),
      }),
    ]),
  ),
});

/** Outputs of the commands about keys. */
export const KEY_SCHEMAS: readonly SchemaRow[] = [
  {
    name: 'key-plan',
    version: 1,
    title: 'Plan for the end of a key',
    description: 'Output of "drillproof keys plan --json": which signatures would stop verifying.',
    schema: keyPlanSchema,
  },
];
