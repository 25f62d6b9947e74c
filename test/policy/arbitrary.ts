import * as fc from 'fast-check';
import type { EvidenceInput } from '../../src/policy/facts.ts';
import type { BundleReport, ExportReport } from '../../src/verify/report.ts';
import { AS_OF, bundle, exportOf, keyOf, local, unattested, unsigned, type Rules } from './make.ts';

/** Facts with few different values, so that rules are met about as often as they are broken. */
const pins = fc.record({
  drillId: fc.constantFrom('checkout', 'refund'),
  seed: fc.constantFrom('1', '2'),
  originalTrial: fc.constantFrom(1, 1, 2),
  originalTrialCount: fc.constantFrom(1, 2),
  originalAttempt: fc.constantFrom(1, 1, 2),
  originalAttemptLimit: fc.constant(2),
});

const signer = { issuer: 'acme-ci', keyId: 'a', thumbprint: keyOf('one'), in: 'attestation' as const };
const other = { issuer: 'acme-qa', keyId: 'b', thumbprint: keyOf('two'), in: 'dsse' as const };
const signers = fc.constantFrom(
  [{ ...signer, issuedAtMs: AS_OF - 1000 }],
  [
    { ...signer, issuedAtMs: AS_OF - 1001 },
    { ...other, issuedAtMs: AS_OF },
  ],
);

const outcome = fc.record({ verdict: fc.constantFrom('passed', 'passed', 'failed') });
const bad = fc.constantFrom('failed' as const, 'incomplete' as const).map(unattested);
const bundleOf = (n: number): fc.Arbitrary<BundleReport> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constant(bundle(n)) },
    { weight: 6, arbitrary: fc.record({ pins, signers, outcome }).map((parts) => bundle(n, parts)) },
    { weight: 1, arbitrary: fc.constant(unsigned(n)) },
    { weight: 1, arbitrary: bad.map((parts) => bundle(n, parts)) },
  );

const worst = (parts: readonly BundleReport[]): ExportReport['verdict'] =>
  (['failed', 'incomplete', 'intact'] as const).find((verdict) =>
    parts.some((part) => part.verdict === verdict),
  ) ?? (parts.length === 0 ? 'incomplete' : 'verified');

/** An export whose verdict is that of its bundles. */
export const exportOfParts = (
  parts: readonly BundleReport[],
  rest: Partial<ExportReport> = {},
): ExportReport => exportOf(parts, { verdict: worst(parts), ...rest });

export const anyInputs: fc.Arbitrary<readonly EvidenceInput[]> = fc
  .array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 })
  .chain((sizes) => {
    let n = 0;
    return fc.tuple(
      ...sizes.map((size, at) =>
        fc
          .tuple(
            fc.tuple(...Array.from({ length: size }, () => bundleOf(++n))),
            fc.constantFrom('attested' as const, 'attested' as const, 'claimed' as const),
            fc.boolean(),
          )
          .map(([parts, completeness, reports]): EvidenceInput => ({
            name: `export ${at}`,
            report: exportOfParts(parts, { completeness, ...(reports && { localReports: [local(at)] }) }),
          })),
      ),
    );
  });

// A policy has few rules, so that many cases are answered with yes.
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const section = (members: Record<string, fc.Arbitrary<unknown>>) => maybe(fc.record(members));

const present = (members: object): Rules =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]: [string, unknown]) => {
      if (value === undefined) return [];
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]];
      return [[name, present(value)]];
    }),
  );

/** Policies of any rules that these reports may meet or break. */
export const anyRules: fc.Arbitrary<Rules> = fc
  .record({
    verdict: section({
      export: fc.constantFrom('verified', 'intact'),
      bundles: fc.constantFrom('verified', 'intact'),
    }),
    signers: section({
      issuers: maybe(fc.constant([{ pattern: 'acme-*' }])),
      keys: maybe(fc.constantFrom([keyOf('one')], [keyOf('two')])),
      distinct: maybe(fc.constantFrom(1, 2)),
    }),
    age: maybe(fc.constant({ max: '1s' })),
    run: section({
      drills: maybe(fc.constantFrom(['checkout'], ['checkout', 'refund'])),
      seeds: maybe(fc.constant(['1'])),
    }),
    drills: section({ required: fc.constantFrom(['checkout'], [{ drill: 'refund', min: 2 }]) }),
    outcome: section({ verdict: fc.constantFrom(['passed'], ['passed', 'failed']) }),
    completeness: section({
      vouched: maybe(fc.constant(['attested'])),
      bundles: maybe(fc.constantFrom(2, { min: 1 }, { max: 3 })),
      localReports: maybe(fc.constantFrom(0, { max: 1 })),
    }),
    trials: maybe(fc.constantFrom('complete', { complete: true }, { attempts: 'first' })),
    localReports: section({ allowed: fc.boolean() }),
    findings: maybe(fc.constant({ warnings: 'refuse' })),
  })
  .map(present);
