import * as z from 'zod';
import { digestSchema } from '../../src/contract/index.ts';
import { RETIREMENTS } from '../../src/trust/index.ts';
import { codeClassSchema, codeSchema } from '../../src/verify/report.ts';
import { TRUST_OUTCOMES } from '../../src/verify/index.ts';
import type { SchemaRow } from './schema.ts';

const count = z.int().min(0);
const keyName = z.strictObject({ issuer: z.string(), keyId: z.string() });
const store = z.strictObject({ fingerprint: digestSchema, keys: z.int().min(1) });

const effect = z.strictObject({
  kind: z.enum(['bundle', 'list']).describe('what is signed: a bundle, or the list of bundles of an export'),
  id: z.string(),
  path: z.string().exactOptional().describe('the part in its export'),
  outcome: z
    .enum(TRUST_OUTCOMES)
    .describe(
      'stops: verifies now but not then; starts: verifies only then; stands: verifies in both; refused: in neither',
    ),
  signer: z.strictObject({ ...keyName.shape, issuedAtMs: z.int() }).exactOptional(),
  codes: z
    .array(codeSchema)
    .describe('codes that only the changed store causes; all codes if unread or refused'),
});

const keyPlanSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('key-plan'),
  retire: z.strictObject({ ...keyName.shape, how: z.enum(RETIREMENTS), atMs: z.int() }),
  replacements: z.array(keyName),
  sameKey: z.array(keyName).describe('other names under which the same key stays trusted'),
  asOfMs: z.int(),
  depth: z.enum(['attestations', 'full']),
  trust: z.strictObject({ before: store, after: store }),
  counts: z.strictObject({
    ...Object.fromEntries(TRUST_OUTCOMES.map((outcome) => [outcome, count])),
    unopened: count.describe('paths that could not be opened'),
    timeClaimed: count.describe('how many of those that stand would get attestation.TIME_CLAIMED'),
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
