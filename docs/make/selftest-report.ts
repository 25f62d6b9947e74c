/** The schema of the report that `drillproof selftest` writes; `src/selftest/result.ts` has its types. */
import * as z from 'zod/mini';
import { countSchema, optionalMember } from '../../src/contract/scalars.ts';

const factsSchema = z.readonly(z.record(z.string(), z.unknown()));

/** The result of one case in one way. */
const caseResultSchema = z.readonly(
  z.strictObject({
    kind: z.string(),
    id: z.string(),
    way: z.string(),
    state: z
      .enum(['passed', 'failed', 'unsupported', 'not_run'])
      .check(
        z.describe(
          'unsupported: the verifier does not support the case; not_run: it could not be started; neither passes',
        ),
      ),
    reason: optionalMember(z.string(), 'why it did not pass'),
    flags: optionalMember(z.readonly(z.array(z.string())), 'the bugs that such a verifier has'),
    expected: optionalMember(factsSchema),
    actual: optionalMember(factsSchema),
    verdictOnly: optionalMember(z.boolean(), 'only the verdict was reported, so nothing else was compared'),
  }),
);

const counts = {
  cases: countSchema.check(z.describe('distinct cases')),
  passed: countSchema.check(z.describe('outcomes that match, by cases and ways in')),
  failed: countSchema,
  unsupported: countSchema,
  notRun: countSchema,
  verdictOnly: countSchema.check(z.describe('passed cases of which only the verdict was reported')),
};

const kindResultSchema = z.readonly(
  z.strictObject({ kind: z.string(), ...counts, ways: z.readonly(z.array(z.string())) }),
);

/** The result of a selftest, as `drillproof selftest --json` prints it. */
export const selftestReportSchema = z.readonly(
  z.strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('selftest'),
    verdict: z
      .enum(['passed', 'failed', 'not_checked'])
      .check(z.describe('passed: at least one case ran, and every outcome matches')),
    target: z.string().check(z.describe('what was tested: this program, or the command')),
    total: z.readonly(z.strictObject(counts)),
    kinds: z.readonly(z.array(kindResultSchema)),
    failures: z
      .readonly(z.array(caseResultSchema))
      .check(z.describe('every result that is failed or not_run')),
  }),
);
