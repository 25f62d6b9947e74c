import { idOf } from '../../make/bundle.ts';
import {
  bundle,
  digest,
  exportOf,
  inputOf,
  inExport,
  unattested,
  unsigned,
  type BundleParts,
} from '../../make/report.ts';
import { caseOf, no, untold, YES, type PolicyCase, type Row, type Rules } from './case.ts';

type Numbers = {
  readonly trial?: number;
  readonly of?: number;
  readonly attempt?: number;
  readonly limit?: number;
};
const run = (n: number, { trial = 1, of = 1, attempt = 1, limit = 1 }: Numbers, rest: BundleParts = {}) =>
  bundle(n, {
    ...rest,
    pins: {
      originalTrial: trial,
      originalTrialCount: of,
      originalAttempt: attempt,
      originalAttemptLimit: limit,
      ...rest.pins,
    },
  });
const trials = (...numbers: readonly number[]) => numbers.map((trial, at) => run(at + 1, { trial, of: 3 }));
const attempts = (...numbers: readonly number[]) =>
  numbers.map((attempt, at) => run(at + 1, { attempt, limit: 3 }));

const COMPLETE: Rules = { trials: 'complete' };
const EVERY: Rules = { trials: { attempts: 'every' } };
const FIRST: Rules = { trials: { attempts: 'first' } };
const rerun = bundle(2, { rerunOfHostedRunId: idOf('hrun', 1) });
const intact = { verdict: { export: 'intact', bundles: 'intact' } } as const;

const rows: readonly Row[] = [
  ['all-trials', 'trials 1 to 3 of 3', 'Usual', COMPLETE, inExport(...trials(1, 2, 3)), YES],
  [
    'all-trials-from-0',
    'trials 0 to 2 of 3',
    'CherryPicked',
    COMPLETE,
    inExport(...[0, 1, 2].map((trial, at) => run(at + 1, { trial, of: 3, attempt: 0 }))),
    YES,
  ],
  [
    'all-trials-in-any-order',
    'the order does not matter',
    'UnusualOrder',
    COMPLETE,
    inExport(...trials(3, 1, 2)),
    YES,
  ],
  [
    'trials-over-inputs',
    'in parts that were given one by one',
    'UnusualOrder',
    COMPLETE,
    trials(1, 2, 3).map((one) => inputOf(one)),
    YES,
  ],
  [
    'first-trial-missing',
    'trials 2 and 3 of 3',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(2, 3)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'last-trial-missing',
    'trials 1 and 2 of 3',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 2)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'middle-trial-missing',
    'trials 1 and 3 of 3',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 3)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-0-missing',
    'trials 1 and 2, where 0 would be the first',
    'CherryPicked',
    COMPLETE,
    inExport(run(1, { trial: 1, of: 3, attempt: 0 }), run(2, { trial: 2, of: 3, attempt: 0 })),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-outside',
    'trials 1 to 4 of 3',
    'Range',
    COMPLETE,
    inExport(...trials(1, 2, 3, 4)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-negative',
    'trials -1, 1, 2, 3 of 3',
    'Range',
    COMPLETE,
    inExport(...trials(-1, 1, 2, 3)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-count-of-nine-quadrillion',
    'a run that claims more trials than can be counted',
    'Size',
    COMPLETE,
    inExport(run(1, { of: Number.MAX_SAFE_INTEGER })),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-twice-in-place-of-another',
    'trial 1 twice and 2 of 3',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 1, 2)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'two-whole-runs',
    'every trial twice',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 2, 3, 1, 2, 3)),
    YES,
  ],
  [
    'second-run-not-whole',
    'the second time without trial 2',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 2, 3, 1, 3)),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-of-another-seed',
    'a trial of another seed does not fill the gap',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 2), run(3, { trial: 3, of: 3 }, { pins: { seed: '43' } })),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-of-another-build',
    'a trial of another build does not fill the gap',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 2), run(3, { trial: 3, of: 3 }, { pins: { buildHash: digest('other') } })),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-of-another-project',
    'a trial of another project does not fill the gap',
    'CherryPicked',
    COMPLETE,
    inExport(...trials(1, 2), run(3, { trial: 3, of: 3 }, { projectId: 'prj_000000000002' })),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-by-a-rerun',
    'a rerun does not fill the gap',
    'CherryPicked',
    { trials: { complete: true, reruns: 'allow' } },
    inExport(...trials(1, 2), run(3, { trial: 3, of: 3 }, { rerunOfHostedRunId: idOf('hrun', 9) })),
    no('policy.TRIAL_MISSING'),
  ],
  [
    'trial-that-does-not-match',
    'a damaged bundle does not fill the gap',
    'Unattested',
    COMPLETE,
    [
      inputOf(
        exportOf([...trials(1, 2), run(3, { trial: 3, of: 3 }, unattested('failed'))], { verdict: 'failed' }),
      ),
    ],
    no('policy.EXPORT_VERDICT', 'policy.BUNDLE_VERDICT', 'policy.TRIAL_MISSING', 'policy.ATTEMPT_PICKED'),
  ],
  [
    'trials-unattested',
    'no trusted key signed the trial',
    'Unattested',
    { ...intact, trials: { complete: true } },
    [inputOf(unsigned(1))],
    untold('policy.TRIAL_MISSING'),
  ],
  ['trials-not-said', 'a policy without a rule about trials', 'Usual', {}, inExport(...trials(1, 2)), YES],
  ['one-attempt', 'the first of three attempts was enough', 'Usual', EVERY, inExport(...attempts(1)), YES],
  ['every-attempt', 'attempts 1 to 3', 'Usual', EVERY, inExport(...attempts(1, 2, 3)), YES],
  [
    'later-attempt-alone',
    'attempt 2 without attempt 1',
    'CherryPicked',
    EVERY,
    inExport(...attempts(2)),
    no('policy.ATTEMPT_PICKED'),
  ],
  [
    'attempt-in-between-missing',
    'attempts 1 and 3',
    'CherryPicked',
    EVERY,
    inExport(...attempts(1, 3)),
    no('policy.ATTEMPT_PICKED'),
  ],
  [
    'attempt-of-another-trial',
    'the earlier attempt is of another trial',
    'CherryPicked',
    EVERY,
    inExport(
      run(1, { trial: 1, of: 2, attempt: 1, limit: 2 }),
      run(2, { trial: 2, of: 2, attempt: 2, limit: 2 }),
    ),
    no('policy.ATTEMPT_PICKED'),
  ],
  [
    'attempt-outside',
    'attempt 4 of 3',
    'Range',
    EVERY,
    inExport(...attempts(1, 2, 3, 4)),
    no('policy.ATTEMPT_PICKED'),
  ],
  [
    'attempt-from-0',
    'attempts 0 and 1 of 2',
    'CherryPicked',
    EVERY,
    inExport(run(1, { trial: 0, attempt: 0, limit: 2 }), run(2, { trial: 0, attempt: 1, limit: 2 })),
    YES,
  ],
  [
    'attempt-from-0-outside',
    'attempt 2 of 2, counted from 0',
    'Range',
    EVERY,
    inExport(
      run(1, { trial: 0, attempt: 0, limit: 2 }),
      run(2, { trial: 0, attempt: 1, limit: 2 }),
      run(3, { trial: 0, attempt: 2, limit: 2 }),
    ),
    no('policy.ATTEMPT_PICKED'),
  ],
  ['first-attempts-only', 'the first attempt', 'Usual', FIRST, inExport(...attempts(1)), YES],
  [
    'first-attempts-and-a-later-one',
    'a second attempt where only first ones are allowed',
    'PolicyRule',
    FIRST,
    inExport(...attempts(1, 2)),
    no('policy.ATTEMPT_PICKED'),
  ],
  [
    'attempt-in-short-form',
    'trials: complete wants every attempt too',
    'CherryPicked',
    COMPLETE,
    inExport(...attempts(2)),
    no('policy.ATTEMPT_PICKED'),
  ],
  [
    'attempts-unattested',
    'no trusted key signed the attempt',
    'Unattested',
    { ...intact, ...FIRST },
    [inputOf(unsigned(1))],
    untold('policy.ATTEMPT_PICKED'),
  ],
  [
    'rerun-refused',
    'a rerun where the policy is silent',
    'Rerun',
    {},
    inExport(bundle(1), rerun),
    no('policy.RERUN_NOT_ALLOWED'),
  ],
  [
    'rerun-refused-in-so-many-words',
    'a rerun that the policy refuses',
    'Rerun',
    { trials: { reruns: 'refuse' } },
    inExport(rerun),
    no('policy.RERUN_NOT_ALLOWED'),
  ],
  [
    'rerun-allowed',
    'a rerun that the policy allows',
    'Rerun',
    { trials: { reruns: 'allow' } },
    inExport(bundle(1), rerun),
    YES,
  ],
  [
    'run-twice',
    'the same bundle in two exports',
    'DuplicateId',
    {},
    [...inExport(bundle(1)), inputOf(exportOf([bundle(1)], { evidenceExportId: idOf('evexp', 2) }))],
    no('policy.RUN_TWICE'),
  ],
  [
    'run-twice-under-another-bundle',
    'one run in two bundles',
    'DuplicateId',
    {},
    inExport(bundle(1), bundle(2, { runId: 'run_vector-1' })),
    no('policy.RUN_TWICE'),
  ],
  [
    'hosted-run-twice',
    'one hosted run under two run ids',
    'DuplicateId',
    {},
    inExport(bundle(1), bundle(2, { hostedRunId: idOf('hrun', 1) })),
    no('policy.RUN_TWICE'),
  ],
  [
    'manifest-twice',
    'one manifest under two names',
    'DuplicateId',
    {},
    inExport(
      bundle(1, { manifestDigest: digest('manifest') }),
      bundle(2, { manifestDigest: digest('manifest') }),
    ),
    no('policy.RUN_TWICE'),
  ],
  [
    'run-id-of-another-project',
    'two projects may call a run alike',
    'DuplicateId',
    {},
    inExport(bundle(1), bundle(2, { runId: 'run_vector-1', projectId: 'prj_000000000002' })),
    YES,
  ],
];

export const trialCases = (): PolicyCase[] => rows.map(caseOf);
