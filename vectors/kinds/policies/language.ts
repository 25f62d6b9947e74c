import type { EvidenceInput } from '../../../src/policy/facts.ts';
import { buildSyntheticReport } from '../../../src/policy/cases.ts';
import { AS_OF } from '../../make/report.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import { caseOf, no, untold, YES, type PolicyCase, type Row, type Rules } from './case.ts';

type Run = Parameters<typeof buildSyntheticReport>[0][number];
type List = Parameters<typeof buildSyntheticReport>[1];

const inputOf = (runs: readonly Partial<Run>[], list: List = {}): readonly EvidenceInput[] => [
  {
    name: 'runs',
    report: buildSyntheticReport(
      runs.map((run) => ({ drill: 'refund', ...run })),
      list,
      AS_OF,
    ),
  },
];

/** The same inputs, with a trusted timestamp of every statement. */
const addStamps = (inputs: readonly EvidenceInput[]): readonly EvidenceInput[] =>
  JSON.parse(
    JSON.stringify(inputs).replaceAll(
      '"in":"attestation"',
      `"in":"attestation","stamp":{"atMs":${AS_OF},"authority":"tsa.example"}`,
    ),
  );

/** A rule with runs that fulfil it, and with runs that do not. */
type Pair = readonly [
  id: string,
  rules: Rules,
  good: readonly Partial<Run>[],
  bad: readonly Partial<Run>[],
  code: Code,
];

const failed = { outcome: 'failed' };
const two: Rules = { signers: { distinctIssuers: 2 } };
const roles: Rules = {
  signers: {
    roles: [
      { role: 'build', issuers: ['ci'] },
      { role: 'qa', issuers: ['qa'] },
    ],
  },
};
const oneKey = [
  {
    signedBy: [
      { issuer: 'ci', key: 'k' },
      { issuer: 'qa', key: 'k' },
    ],
  },
];
const required = (requirement: object): Rules => ({
  drills: { required: [{ drill: 'refund', ...requirement }] },
});
const latest = required({ outcome: 'passed', latest: true });

const pairs: readonly Pair[] = [
  ['issuers', two, [{ signedBy: ['ci', 'qa'] }], oneKey, 'policy.TOO_FEW_ISSUERS'],
  ['roles', roles, [{ signedBy: ['qa', 'ci'] }], oneKey, 'policy.ROLE_MISSING'],
  [
    'role-of-two-groups',
    {
      signers: {
        roles: [
          { role: 'a', issuers: ['ci', 'qa'] },
          { role: 'b', issuers: ['ci'] },
        ],
      },
    },
    [{ signedBy: ['ci', 'qa'] }],
    [{ signedBy: ['ci'] }],
    'policy.ROLE_MISSING',
  ],
  [
    'key-end',
    { signers: { validFor: '2d' } },
    [{ signedBy: { issuer: 'ci', validFor: '2d' } }],
    [{ signedBy: { issuer: 'ci', validFor: '1d' } }],
    'policy.KEY_ENDS_SOON',
  ],
  [
    'seeds',
    { run: { distinctSeeds: 2 } },
    [{ seed: '1' }, { seed: '2' }],
    [{ seed: '1' }, { seed: '1' }],
    'policy.TOO_FEW_SEEDS',
  ],
  ['pass-rate', { outcome: { passRate: 50 } }, [{}, failed], [{}, failed, failed], 'policy.PASS_RATE'],
  [
    'pass-rate-of-each-drill',
    { outcome: { passRate: 50 } },
    [{}, { drill: 'checkout' }],
    [{}, {}, { drill: 'checkout', ...failed }],
    'policy.PASS_RATE',
  ],
  [
    'assertion',
    { outcome: { assertions: ['stock'] } },
    [{ assertions: { stock: 'passed' } }],
    [{ assertions: { other: 'passed' } }],
    'policy.ASSERTION_MISSING',
  ],
  [
    'checkpoint',
    { outcome: { checkpoints: ['end'] } },
    [{ checkpoints: { end: 'passed' } }],
    [{ checkpoints: { end: 'failed' } }],
    'policy.CHECKPOINT_MISSING',
  ],
  ['latest-run', latest, [{ ...failed, ago: '2d' }, {}], [{ ago: '2d' }, failed], 'policy.DRILL_MISSING'],
  [
    'ran',
    required({ ran: '1d' }),
    [{ ago: '1d' }, { ago: '9d' }],
    [{ ago: '2d', signedAgo: '1h' }],
    'policy.DRILL_MISSING',
  ],
  [
    'ran-after-signature',
    required({ ran: '1d' }),
    [{}],
    [{ ago: '1h', signedAgo: '9d' }],
    'policy.DRILL_MISSING',
  ],
  [
    'signers-of-a-drill',
    required({ signers: { issuers: ['qa'] } }),
    [{ signedBy: 'qa' }, { signedBy: 'ci' }],
    [{ signedBy: 'ci' }],
    'policy.DRILL_MISSING',
  ],
  [
    'reruns-of-a-drill',
    required({ reruns: 'allow' }),
    [{ rerun: true }],
    [{ drill: 'checkout', rerun: true }, {}],
    'policy.RERUN_NOT_ALLOWED',
  ],
  [
    'any-of',
    { anyOf: [{ age: { run: '1d' } }, { signers: { distinct: 2 } }] },
    [{ ago: '9d', signedBy: ['ci', 'qa'] }],
    [{ ago: '9d' }],
    'policy.NO_ALTERNATIVE',
  ],
  [
    'any-of-halves',
    { anyOf: [{ age: { run: '1d' }, outcome: { verdict: ['passed'] } }, { signers: { distinct: 2 } }] },
    [{}],
    [{}, { signedBy: ['ci', 'qa'], ...failed }],
    'policy.NO_ALTERNATIVE',
  ],
];

const rows: readonly Row[] = [
  ...pairs.flatMap(([id, rules, good, bad, code]): Row[] => [
    [`${id}-holds`, 'the rule holds', 'PolicyRule', rules, inputOf(good), YES],
    [`${id}-does-not-hold`, 'the rule does not hold', 'PolicyRule', rules, inputOf(bad), no(code)],
  ]),
  [
    'timestamp',
    'no evidence has a trusted timestamp',
    'Unattested',
    { signers: { timestamp: 'required' } },
    inputOf([{}]),
    no('policy.TIMESTAMP_MISSING'),
  ],
  [
    'timestamp-holds',
    'every statement has a trusted timestamp',
    'PolicyRule',
    { signers: { timestamp: 'required' } },
    addStamps(inputOf([{}])),
    YES,
  ],
  [
    'challenge-without-ledger',
    'a bundle may answer a challenge, but no ledger was given',
    'Unattested',
    { challenge: { answered: 'once' } },
    addStamps(inputOf([{}])),
    untold('policy.CHALLENGE_NOT_MET'),
  ],
  [
    'window-holds',
    'the window covers exactly the last days',
    'Completeness',
    { completeness: { window: { last: '30d', lag: '1d' } } },
    inputOf([{}], { from: '30d', through: '1d' }),
    YES,
  ],
  [
    'window-too-short',
    'the window begins a day too late',
    'Completeness',
    { completeness: { window: { last: '30d', lag: '1d' } } },
    inputOf([{}], { from: '29d' }),
    no('policy.WINDOW_TOO_SHORT'),
  ],
  [
    'window-claimed',
    'only the evidence itself states its window',
    'Unattested',
    { completeness: { window: { last: '30d', lag: '1d' } } },
    inputOf([{}], { completeness: 'claimed' }),
    untold('policy.WINDOW_TOO_SHORT'),
  ],
  [
    'latest-run-unattested',
    'a bundle that is not verified could be the latest run',
    'Unattested',
    { ...latest, verdict: { export: 'intact', bundles: 'intact' } },
    inputOf([{}, { signedBy: [] }]),
    untold('policy.DRILL_MISSING'),
  ],
  [
    'warned',
    'a rule that only warns does not decide',
    'PolicyRule',
    { outcome: { verdict: ['passed'] }, enforcement: { 'outcome.verdict': { severity: 'warn' } } },
    inputOf([failed]),
    YES,
  ],
  [
    'warned-until-now',
    'a rule decides from this moment on',
    'Time',
    { outcome: { verdict: ['passed'] }, enforcement: { 'outcome.verdict': { effectiveFrom: '2026-01-01' } } },
    inputOf([failed]),
    no('policy.OUTCOME_VERDICT'),
  ],
];

export const language = (): PolicyCase[] => rows.map(caseOf);
