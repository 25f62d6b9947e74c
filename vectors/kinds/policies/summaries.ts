import type { EvidenceInput, SummaryFacts } from '../../../src/policy/index.ts';
import { AS_OF, bundle, digest, found, inExport, keyOf } from '../../make/report.ts';
import { caseOf, no, YES, type PolicyCase, type Row, type Rules } from './case.ts';

const summary = (rest: Partial<SummaryFacts> = {}): EvidenceInput => ({
  name: 'summary.json',
  summary: {
    verifierId: 'https://acme.example/gate',
    result: 'PASSED',
    timeVerifiedMs: AS_OF - 3_600_000,
    policyDigest: digest('policy'),
    inputs: [digest('export manifest')],
    thumbprints: [keyOf('gate')],
    findings: [],
    ...rest,
  },
});
const row = {
  verifier: 'https://acme.example/gate',
  policies: [digest('policy')],
  inputs: [digest('export manifest')],
  maxAge: '1h',
} as const;
const ACCEPT: Rules = { summary: { accepted: [row] } };
const CODE = 'policy.SUMMARY_NOT_ACCEPTED';
const unvouched: SummaryFacts = { ...(summary() as { summary: SummaryFacts }).summary, thumbprints: [] };

const rows: readonly Row[] = [
  ['summary-accepted', 'everything is as it is pinned', 'Usual', ACCEPT, [summary()], YES],
  ['summary-not-said', 'a policy that does not speak of summaries', 'Unattested', {}, [summary()], no(CODE)],
  [
    'summary-failed',
    'the evidence did not pass',
    'PolicyRule',
    ACCEPT,
    [summary({ result: 'FAILED' })],
    no(CODE),
  ],
  [
    'summary-of-another-verifier',
    'another verifier',
    'WrongSubject',
    ACCEPT,
    [summary({ verifierId: 'https://acme.example/gate2' })],
    no(CODE),
  ],
  [
    'summary-by-nobody',
    'no trusted key signed it',
    'Unattested',
    ACCEPT,
    [{ name: 'summary.json', summary: unvouched }],
    no(CODE),
  ],
  [
    'summary-by-another-key',
    'another key than the one that is pinned',
    'WrongKey',
    { summary: { accepted: [{ ...row, keys: [keyOf('one')] }] } },
    [summary()],
    no(CODE),
  ],
  [
    'summary-by-this-key',
    'the key that is pinned',
    'Usual',
    { summary: { accepted: [{ ...row, keys: [keyOf('gate')] }] } },
    [summary()],
    YES,
  ],
  [
    'summary-by-two-keys',
    'signed by two trusted keys, of which the second is pinned',
    'WrongKey',
    { summary: { accepted: [{ ...row, keys: [keyOf('gate')] }] } },
    [summary({ thumbprints: [keyOf('one'), keyOf('gate')] })],
    YES,
  ],
  [
    'summary-of-another-policy',
    'another policy was applied',
    'WrongSubject',
    ACCEPT,
    [summary({ policyDigest: digest('lax policy') })],
    no(CODE),
  ],
  [
    'summary-of-other-evidence',
    'it is about other evidence',
    'WrongSubject',
    ACCEPT,
    [summary({ inputs: [digest('other')] })],
    no(CODE),
  ],
  [
    'summary-of-more-evidence',
    'it is about other evidence too',
    'WrongSubject',
    ACCEPT,
    [summary({ inputs: [digest('export manifest'), digest('other')] })],
    no(CODE),
  ],
  [
    'summary-of-less-evidence',
    'it is not about all that is pinned',
    'WrongSubject',
    { summary: { accepted: [{ ...row, inputs: [digest('export manifest'), digest('other')] }] } },
    [summary()],
    no(CODE),
  ],
  ['summary-of-nothing', 'it is about nothing', 'EmptySet', ACCEPT, [summary({ inputs: [] })], no(CODE)],
  [
    'summary-too-old',
    'one millisecond older than allowed',
    'Time',
    ACCEPT,
    [summary({ timeVerifiedMs: AS_OF - 3_600_001 })],
    no(CODE),
  ],
  [
    'summary-of-now',
    'made at the time of this judgement',
    'Time',
    ACCEPT,
    [summary({ timeVerifiedMs: AS_OF })],
    YES,
  ],
  [
    'summary-of-the-future',
    'made after the time of this judgement',
    'Time',
    ACCEPT,
    [summary({ timeVerifiedMs: AS_OF + 1 })],
    no(CODE),
  ],
  [
    'summary-with-an-error',
    'its envelope does not verify',
    'WrongKey',
    ACCEPT,
    [summary({ findings: [found('attestation.SIGNATURE_INVALID', 'summary')] })],
    no(CODE),
  ],
  [
    'summary-by-the-second-row',
    'one of two rows accepts it',
    'Usual',
    { summary: { accepted: [{ ...row, verifier: 'another' }, row] } },
    [summary()],
    YES,
  ],
  [
    'summary-by-halves-of-two-rows',
    'no row accepts it whole',
    'PolicyRule',
    {
      summary: {
        accepted: [
          { ...row, verifier: 'another' },
          { ...row, policies: [digest('other')] },
        ],
      },
    },
    [summary()],
    no(CODE),
  ],
  [
    'summary-in-place-of-a-drill',
    "what the evidence would show is the summary's to say",
    'Usual',
    { ...ACCEPT, drills: { required: ['checkout'] }, completeness: { bundles: 2 } },
    [summary()],
    YES,
  ],
  [
    'summary-beside-evidence',
    'beside evidence it shows no drill',
    'CherryPicked',
    { ...ACCEPT, drills: { required: ['refund'] } },
    [summary(), ...inExport(bundle(1))],
    no('policy.DRILL_MISSING'),
  ],
];

export const summaries = (): PolicyCase[] => rows.map(caseOf);
