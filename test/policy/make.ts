import { evaluate } from '../../src/policy/evaluate.ts';
import { policyOf, policyDigest, type Policy } from '../../src/policy/policy.ts';
import type { Decision, Violation } from '../../src/policy/decision.ts';
import type { EvidenceInput, SummaryFacts } from '../../src/policy/facts.ts';
import type { PolicyDocument, Waiver } from '../../src/policy/document/document.ts';
import { type RuleId, RULES } from '../../src/policy/catalogue.ts';
import { idOf, ORGANIZATION, PROJECT } from '../../vectors/make/bundle.ts';
import { AS_OF, bundle, type BundleParts, digest, inExport, keyOf } from '../../vectors/make/report.ts';

export * from '../../vectors/make/report.ts';

export type Rules = Omit<PolicyDocument, 'schemaVersion' | 'kind'>;

export const documentOf = (rules: Rules): PolicyDocument => ({ schemaVersion: 1, kind: 'policy', ...rules });

/** A policy with a layer for each of these sets of rules. */
export function layersOf(...rules: readonly Rules[]): Policy {
  const layers = rules.map(documentOf);
  return { name: 'layers', digest: policyDigest(layers), sources: [], layers };
}

/** The decision of a policy of these members. */
export const decide = (rules: Rules, inputs: readonly EvidenceInput[], asOfMs = AS_OF): Decision =>
  evaluate(inputs, policyOf(documentOf(rules)), { asOfMs });

export const violationsOf = (decision: Decision, id: RuleId): readonly Violation[] =>
  decision.rules.find(({ rule }) => rule === id)?.violations ?? [];

export const stateOf = (decision: Decision, id: RuleId): string | undefined =>
  decision.rules.find(({ rule }) => rule === id)?.state;

export const ONE = idOf('evidence', 1);
export const TWO = idOf('evidence', 2);
export const EXPORT = idOf('evexp', 1);

/** Every rule; `inExport(bundle(1))` is evidence that fulfils them all. */
export const EVERY: Rules = {
  verdict: { export: 'verified', bundles: 'verified' },
  signers: {
    issuers: ['acme-ci'],
    keys: [keyOf('one')],
    distinct: 1,
    distinctIssuers: 1,
    roles: [{ role: 'ci', issuers: ['acme-ci'] }],
    validFor: '1d',
  },
  age: { max: '1h', run: '1h', signedWithin: '1h' },
  scope: { organizations: [ORGANIZATION], projects: [PROJECT] },
  run: {
    drills: ['checkout'],
    targets: ['shop'],
    scenarios: ['plain'],
    builds: [digest('build')],
    packageLocks: [digest('lock')],
    seeds: ['42'],
    distinctSeeds: 1,
    never: [{ target: 'prod' }],
    trials: { trial: 1, trialCount: 1, attempt: 1, attemptLimit: 1 },
  },
  drills: { required: ['checkout'] },
  outcome: {
    status: ['completed'],
    verdict: ['passed'],
    passRate: 100,
    assertions: ['stock'],
    checkpoints: ['end'],
    virtualDuration: '30m',
  },
  contradictions: 'refuse',
  completeness: {
    vouched: ['attested'],
    issuers: ['acme-ci'],
    keys: [keyOf('one')],
    window: { last: '7d', lag: '1d' },
    bundles: 1,
    localReports: { min: 0 },
    coverage: 'full',
  },
  trials: 'complete',
  receipts: { chain: 'sound', last: '7d' },
  localReports: { allowed: false },
  findings: { warnings: 'refuse' },
  anyOf: [{ age: { run: '1h' } }, { age: { run: '1s' } }],
  allOf: [{ when: { target: 'shop' }, run: { distinctSeeds: 1 } }],
  artifact: 'required',
  baseline: 'required',
};
/** A summary that passed. */
export const summaryFacts = (over: Partial<SummaryFacts> = {}): SummaryFacts => ({
  verifierId: 'ci',
  result: 'PASSED',
  timeVerifiedMs: AS_OF,
  resourceUri: 'urn:shop',
  policyDigest: digest('policy'),
  parameters: {},
  inputs: [digest('manifest')],
  thumbprints: [keyOf('one')],
  findings: [],
  ...over,
});
export const waiverOf = (code: Waiver['code'], subject: string) => ({
  code,
  subject,
  reason: 'known',
  owner: 'us',
  expires: '2026-02-01',
});
export const GONE: EvidenceInput = {
  name: 'gone',
  failure: { code: 'io.NOT_FOUND', message: 'no such file' },
};

/** The violations of a rule without their message, and without the rule and its code, which never differ. */
export const problemsOf = (rules: Rules, inputs: readonly EvidenceInput[], rule: RuleId) =>
  violationsOf(decide(rules, inputs), rule).map(
    ({ message, rule: id, code, candidates: _candidates, ...rest }) => {
      const isCode =
        code === RULES[rule].code || (rule === 'drills.required' && code.startsWith('policy.DRILL_'));
      if (message === '' || id !== rule || !isCode)
        throw new TypeError(`not a violation of ${rule}: ${id}, ${code}, ${message}`);
      return rest;
    },
  );
/** An export with one bundle. */
export const single = (parts: BundleParts) => inExport(bundle(1, parts));
/** A report without some of its members. */
export const omit = <T extends object, K extends keyof T & string>(report: T, ...names: readonly K[]) =>
  Object.fromEntries(
    Object.entries(report).filter(([name]) => !names.some((other) => other === name)),
  ) as Omit<T, K>;
