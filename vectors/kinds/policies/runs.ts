import type { Code } from '../../../src/codes/catalogue.ts';
import { bundle, digest, exportOf, inputOf, inExport, unattested, unsigned } from '../../make/report.ts';
import { ORGANIZATION, PROJECT } from '../../make/bundle.ts';
import { caseOf, no, untold, YES, type PolicyCase, type Row, type Rules } from './case.ts';

const intact = { verdict: { export: 'intact', bundles: 'intact' } } as const;

/** A fact of the run: what holds, what does not, and the code. */
const FACTS: readonly (readonly [name: string, code: Code, good: Rules, bad: Rules])[] = [
  [
    'organization',
    'policy.ORGANIZATION_NOT_ALLOWED',
    { scope: { organizations: [ORGANIZATION] } },
    { scope: { organizations: ['org_000000000002'] } },
  ],
  [
    'project',
    'policy.PROJECT_NOT_ALLOWED',
    { scope: { projects: [PROJECT] } },
    { scope: { projects: ['prj_000000000002'] } },
  ],
  [
    'drill',
    'policy.DRILL_NOT_ALLOWED',
    { run: { drills: ['refund', 'checkout'] } },
    { run: { drills: ['refund'] } },
  ],
  [
    'target',
    'policy.TARGET_NOT_ALLOWED',
    { run: { targets: [{ pattern: 'sh*' }] } },
    { run: { targets: ['sh*'] } },
  ],
  [
    'scenario',
    'policy.SCENARIO_NOT_ALLOWED',
    { run: { scenarios: ['plain'] } },
    { run: { scenarios: ['plai'] } },
  ],
  [
    'build',
    'policy.BUILD_NOT_ALLOWED',
    { run: { builds: [digest('build')] } },
    { run: { builds: [digest('other')] } },
  ],
  [
    'package-lock',
    'policy.PACKAGE_LOCK_NOT_ALLOWED',
    { run: { packageLocks: [digest('lock')] } },
    { run: { packageLocks: [digest('other')] } },
  ],
  ['seed', 'policy.SEED_NOT_ALLOWED', { run: { seeds: ['42'] } }, { run: { seeds: ['4', '042'] } }],
  [
    'trial',
    'policy.TRIAL_NOT_ALLOWED',
    { run: { trials: { trialCount: 1, attempt: { max: 1 } } } },
    { run: { trials: { trialCount: { min: 2 } } } },
  ],
  [
    'status',
    'policy.OUTCOME_STATUS',
    { outcome: { status: ['completed'] } },
    { outcome: { status: ['failed'] } },
  ],
  [
    'outcome',
    'policy.OUTCOME_VERDICT',
    { outcome: { verdict: ['passed', 'inconclusive'] } },
    { outcome: { verdict: ['failed'] } },
  ],
];

const facts = FACTS.flatMap(([name, code, good, bad]): Row[] => [
  [`${name}-allowed`, `the ${name} is as the policy wants`, 'Usual', good, inExport(bundle(1)), YES],
  [`${name}-other`, `the ${name} is another`, 'PolicyRule', bad, inExport(bundle(1)), no(code)],
  [
    `${name}-unattested`,
    `no trusted key signed the ${name}`,
    'Unattested',
    { ...intact, ...good },
    [inputOf(unsigned(1))],
    untold(code),
  ],
  [
    `${name}-of-failed`,
    `the ${name} of a bundle that does not match`,
    'Unattested',
    good,
    [inputOf(bundle(1, unattested('failed')))],
    no('policy.BUNDLE_VERDICT', code),
  ],
]);

const withTrials = (trial: number, trialCount: number, attempt = 1, attemptLimit = 1) =>
  bundle(1, {
    pins: {
      originalTrial: trial,
      originalTrialCount: trialCount,
      originalAttempt: attempt,
      originalAttemptLimit: attemptLimit,
    },
  });
const trials: Rules = {
  run: {
    trials: { trialCount: { min: 2, max: 3 }, trial: { max: 2 }, attempt: 1, attemptLimit: { max: 2 } },
  },
};
const { scenarioId: _scenario, ...pinsWithoutScenario } = bundle(1).reproduction!;

const { outcome: _outcome, ...withoutOutcome } = bundle(1);
const { reproduction: _pins, ...withoutPins } = bundle(1);

const rows: readonly Row[] = [
  [
    'attested-by-word-only',
    'a report that calls an intact bundle attested',
    'Unattested',
    { ...intact, outcome: { verdict: ['passed'] } },
    [inputOf(bundle(1, { verdict: 'intact' }))],
    untold('policy.OUTCOME_VERDICT'),
  ],
  [
    'attested-at-depth-digest',
    'a report that calls a bundle verified of which only digests were looked at',
    'Depth',
    { outcome: { verdict: ['passed'] } },
    [inputOf(bundle(1, { depth: 'digest' }))],
    untold('policy.BUNDLE_VERDICT', 'policy.OUTCOME_VERDICT'),
  ],
  [
    'outcome-absent',
    'a report without the outcome of the drill',
    'MissingMember',
    { outcome: { verdict: ['passed'], status: ['completed'] } },
    [inputOf(withoutOutcome)],
    untold('policy.OUTCOME_VERDICT', 'policy.OUTCOME_STATUS'),
  ],
  [
    'pins-absent',
    'a report that does not name the pinned digest',
    'MissingMember',
    { run: { drills: ['checkout'], trials: { trial: 1 } }, trials: { complete: true } },
    [inputOf(withoutPins)],
    untold('policy.DRILL_NOT_ALLOWED', 'policy.TRIAL_NOT_ALLOWED', 'policy.TRIAL_MISSING'),
  ],
  [
    'one-of-two-bundles',
    'one bundle of two is of another drill',
    'PolicyRule',
    { run: { drills: ['checkout'] } },
    inExport(bundle(1), bundle(2, { pins: { drillId: 'refund' } })),
    no('policy.DRILL_NOT_ALLOWED'),
  ],
  [
    'scenario-absent',
    'a run without a scenario',
    'MissingMember',
    { run: { scenarios: [{ pattern: '*' }] } },
    [inputOf({ ...bundle(1), reproduction: pinsWithoutScenario })],
    no('policy.SCENARIO_NOT_ALLOWED'),
  ],
  [
    'outcome-failed',
    'an authentic bundle of a drill that failed',
    'PolicyRule',
    { outcome: { verdict: ['passed'] } },
    inExport(bundle(1), bundle(2, { outcome: { verdict: 'failed' } })),
    no('policy.OUTCOME_VERDICT'),
  ],
  [
    'outcome-unknown-word',
    'an unknown outcome',
    'UnknownValue',
    { outcome: { verdict: ['passed'] } },
    inExport(bundle(1, { outcome: { verdict: 'PASSED' } })),
    no('policy.OUTCOME_VERDICT'),
  ],
  [
    'organization-of-the-list',
    'the export and its bundles are of different organizations',
    'Scope',
    { scope: { organizations: [ORGANIZATION] } },
    [inputOf(exportOf([bundle(1)], { organizationId: 'org_000000000002' }))],
    no('policy.ORGANIZATION_NOT_ALLOWED'),
  ],
  [
    'trials-lowest',
    'the fewest trials that are allowed',
    'PolicyRule',
    trials,
    [inputOf(withTrials(1, 2))],
    YES,
  ],
  [
    'trials-highest',
    'the most trials that are allowed',
    'PolicyRule',
    trials,
    [inputOf(withTrials(2, 3, 1, 2))],
    YES,
  ],
  [
    'trials-too-few',
    'one trial fewer',
    'PolicyRule',
    trials,
    [inputOf(withTrials(1, 1))],
    no('policy.TRIAL_NOT_ALLOWED'),
  ],
  [
    'trials-too-many',
    'one trial more',
    'PolicyRule',
    trials,
    [inputOf(withTrials(1, 4))],
    no('policy.TRIAL_NOT_ALLOWED'),
  ],
  [
    'trials-later',
    'a later trial',
    'PolicyRule',
    trials,
    [inputOf(withTrials(3, 3))],
    no('policy.TRIAL_NOT_ALLOWED'),
  ],
  [
    'trials-attempt',
    'a second attempt',
    'PolicyRule',
    trials,
    [inputOf(withTrials(1, 2, 2, 2))],
    no('policy.TRIAL_NOT_ALLOWED'),
  ],
  [
    'trials-limit',
    'more attempts were possible than are allowed',
    'PolicyRule',
    trials,
    [inputOf(withTrials(1, 2, 1, 3))],
    no('policy.TRIAL_NOT_ALLOWED'),
  ],
];

export const runs = (): PolicyCase[] => [...facts, ...rows].map(caseOf);
