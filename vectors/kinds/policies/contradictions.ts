import { idOf } from '../../make/bundle.ts';
import {
  AS_OF,
  bundle,
  exportOf,
  inputOf,
  inExport,
  ISSUED,
  keyOf,
  unsigned,
  type BundleParts,
} from '../../make/report.ts';
import { caseOf, no, untold, YES, type PolicyCase, type Row, type Rules } from './case.ts';

const REFUSE: Rules = { contradictions: 'refuse' };
const gate = { id: 'stock', gate: true, status: 'failed' };
const final = { id: 'end', kind: 'final', verdict: 'failed' };
const { worldConsistency: _world, budget: _budget, ...earlier } = bundle(1).outcome!;
const day = 86_400_000;

const refused = (
  name: string,
  outcome: NonNullable<BundleParts['outcome']>,
  ...codes: Parameters<typeof no>
): Row => [
  `run-${name}`,
  'the run contradicts itself',
  'PolicyRule',
  REFUSE,
  inExport(bundle(1, { outcome })),
  no(...codes),
];
const allowed = (name: string, comment: string, outcome: NonNullable<BundleParts['outcome']>): Row => [
  `run-${name}`,
  comment,
  'Usual',
  REFUSE,
  inExport(bundle(1, { outcome })),
  YES,
];
const RUN_AGE: Rules = { age: { run: '1d' } };
const aged = (ms: number) => inExport(bundle(1, { createdAtMs: AS_OF - ms }));
const SIGNED: Rules = { completeness: { issuers: ['acme-ci'], keys: [keyOf('one')] } };
const listBy = (issuer: string, key: string) =>
  inputOf(
    exportOf([bundle(1)], {
      signers: [{ issuer, keyId: 'k', issuedAtMs: ISSUED, thumbprint: keyOf(key), in: 'attestation' }],
    }),
  );

const rows: readonly Row[] = [
  ['run-consistent', 'nothing contradicts itself', 'Usual', REFUSE, inExport(bundle(1)), YES],
  refused('world-inconsistent', { worldConsistency: 'inconsistent' }, 'policy.WORLD_INCONSISTENT'),
  refused('world-unknown', { worldConsistency: 'perhaps' }, 'policy.WORLD_INCONSISTENT'),
  refused('binding-partial', { bindingEvidence: 'partial' }, 'policy.BINDING_PARTIAL'),
  refused('gate-failed', { assertions: [gate] }, 'policy.ASSERTION_CONTRADICTS'),
  refused(
    'gate-failed-and-inconclusive',
    { assertions: [gate], verdict: 'inconclusive' },
    'policy.ASSERTION_CONTRADICTS',
  ),
  refused('gate-error', { assertions: [{ ...gate, status: 'error' }] }, 'policy.ASSERTION_CONTRADICTS'),
  refused('checkpoint-failed', { checkpoints: [final] }, 'policy.CHECKPOINT_CONTRADICTS'),
  refused('budget-exceeded', { budget: 'exceeded' }, 'policy.BUDGET_EXCEEDED'),
  allowed('gate-failed-as-stated', 'the run states that it failed', {
    assertions: [gate],
    verdict: 'failed',
  }),
  allowed('assertion-without-gate', 'the assertion decides nothing', {
    assertions: [{ ...gate, gate: false }],
  }),
  allowed('checkpoint-between', 'not a final checkpoint', {
    checkpoints: [{ ...final, kind: 'interaction' }],
  }),
  [
    'run-of-an-earlier-release',
    'the report does not have these facts',
    'Unattested',
    REFUSE,
    inExport({ ...bundle(1), outcome: earlier }),
    untold(
      'policy.WORLD_INCONSISTENT',
      'policy.BINDING_PARTIAL',
      'policy.ASSERTION_CONTRADICTS',
      'policy.CHECKPOINT_CONTRADICTS',
      'policy.BUDGET_EXCEEDED',
    ),
  ],
  [
    'run-after-signature',
    'dated one millisecond after its signature',
    'Time',
    REFUSE,
    inExport(bundle(1, { createdAtMs: ISSUED + 1 })),
    no('policy.RUN_AFTER_SIGNATURE'),
  ],
  [
    'run-unattested',
    'facts of an unsigned bundle are not known',
    'Unattested',
    { ...RUN_AGE, verdict: { bundles: 'intact', export: 'intact' } },
    [inputOf(unsigned(1))],
    untold('policy.RUN_TOO_OLD'),
  ],
  ['run-age', 'exactly as old as allowed', 'Time', RUN_AGE, aged(day), YES],
  [
    'run-too-old',
    'signed again, and one millisecond too old',
    'Time',
    RUN_AGE,
    aged(day + 1),
    no('policy.RUN_TOO_OLD'),
  ],
  [
    'run-age-from-the-future',
    'a date after the signature does not make a run young',
    'Time',
    RUN_AGE,
    inExport(bundle(1, { createdAtMs: AS_OF + day })),
    no('policy.RUN_TOO_OLD'),
  ],
  [
    'list-signer',
    'an allowed key of an allowed issuer',
    'Completeness',
    SIGNED,
    [listBy('acme-ci', 'one')],
    YES,
  ],
  [
    'list-signer-of-another-issuer',
    'a trusted key of another issuer attested the list',
    'Completeness',
    SIGNED,
    [listBy('acme-qa', 'two')],
    no('policy.LIST_ISSUER_NOT_ALLOWED', 'policy.LIST_KEY_NOT_ALLOWED'),
  ],
  [
    'list-signer-of-the-other-rule',
    'the allowed key under the name of another issuer',
    'WrongKey',
    { completeness: { issuers: ['acme-qa'], keys: [keyOf('one')] } },
    [listBy('acme-ci', 'one')],
    no('policy.LIST_ISSUER_NOT_ALLOWED', 'policy.LIST_KEY_NOT_ALLOWED'),
  ],
  [
    'list-claimed-where-an-issuer-is-required',
    'no one attested the list',
    'Completeness',
    { completeness: { issuers: ['acme-ci'] } },
    [inputOf(exportOf([bundle(1)], { completeness: 'claimed' }))],
    no('policy.LIST_ISSUER_NOT_ALLOWED'),
  ],
  [
    'list-pinned-where-an-issuer-is-required',
    'the caller pinned the list',
    'Completeness',
    { completeness: { issuers: ['another'] } },
    [inputOf(exportOf([bundle(1)], { completeness: 'pinned' }))],
    YES,
  ],
  [
    'part-where-a-list-issuer-is-required',
    'a part by itself has no list',
    'Completeness',
    { completeness: { issuers: ['acme-ci'] } },
    [inputOf(bundle(1), idOf('evidence', 1))],
    no('policy.LIST_ISSUER_NOT_ALLOWED'),
  ],
];

export const contradictions = (): PolicyCase[] => rows.map(caseOf);
