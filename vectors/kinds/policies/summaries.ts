import type { EvidenceInput, SummaryFacts } from '../../../src/policy/facts.ts';
import { AS_OF, bundle, digest, findingOf, inExport, keyOf } from '../../make/report.ts';
import { caseOf, no, YES, type PolicyCase, type Row, type Rules } from './case.ts';

const summary = (rest: Partial<SummaryFacts> = {}): EvidenceInput => ({
  name: 'summary.json',
  summary: {
    verifierId: 'https://acme.example/gate',
    result: 'PASSED',
    timeVerifiedMs: AS_OF - 3_600_000,
    resourceUri: 'https://acme.example/shop',
    policyDigest: digest('policy'),
    parameters: {},
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
  resource: 'https://acme.example/shop',
  threshold: 1,
} as const;
const ACCEPT: Rules = { summary: { accepted: [row] } };
const PARAMETERS: Rules = { summary: { accepted: [{ ...row, parameters: { n: 2, age: '7d' } }] } };
const CODE = 'policy.SUMMARY_NOT_ACCEPTED';
const unvouched: SummaryFacts = { ...(summary() as { summary: SummaryFacts }).summary, thumbprints: [] };

function omitParameters(): EvidenceInput {
  const { parameters: _parameters, ...facts } = unvouched;
  return { name: 'summary.json', summary: { ...facts, thumbprints: [keyOf('gate')] } };
}
const unstated = omitParameters();

const rows: readonly Row[] = [
  ['summary-accepted', 'everything is as it is pinned', 'Usual', ACCEPT, [summary()], YES],
  ['summary-not-said', 'a policy without a rule about summaries', 'Unattested', {}, [summary()], no(CODE)],
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
    'a key that differs from the pinned one',
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
    'summary-of-another-resource',
    'made for another resource',
    'WrongSubject',
    ACCEPT,
    [summary({ resourceUri: 'https://acme.example/till' })],
    no(CODE),
  ],
  [
    'summary-below-the-threshold',
    'two keys must sign, and one key signed twice',
    'WrongKey',
    { summary: { accepted: [{ ...row, threshold: 2 }] } },
    [summary({ thumbprints: [keyOf('gate'), keyOf('gate')] })],
    no(CODE),
  ],
  [
    'summary-at-the-threshold',
    'two different keys signed',
    'Usual',
    { summary: { accepted: [{ ...row, threshold: 2 }] } },
    [summary({ thumbprints: [keyOf('gate'), keyOf('one')] })],
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
    'summary-with-parameters',
    'exactly the accepted values, of which one is a number',
    'Usual',
    PARAMETERS,
    [summary({ parameters: { age: '7d', n: '2' } })],
    YES,
  ],
  [
    'summary-with-another-parameter',
    'a value that is not accepted',
    'WrongSubject',
    PARAMETERS,
    [summary({ parameters: { age: '7d', n: '1' } })],
    no(CODE),
  ],
  [
    'summary-with-a-parameter-too-many',
    'a parameter that the rule does not accept',
    'WrongSubject',
    ACCEPT,
    [summary({ parameters: { n: '2' } })],
    no(CODE),
  ],
  [
    'summary-without-parameters',
    'it does not state the values of the parameters',
    'Unattested',
    ACCEPT,
    [unstated],
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
    'made at the time of this counted',
    'Time',
    ACCEPT,
    [summary({ timeVerifiedMs: AS_OF })],
    YES,
  ],
  [
    'summary-of-the-future',
    'made after the time of this counted',
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
    [summary({ findings: [findingOf('attestation.SIGNATURE_INVALID', 'summary')] })],
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
    'a summary replaces what the evidence would show',
    'Usual',
    { ...ACCEPT, drills: { required: ['checkout'] }, completeness: { bundles: 2 } },
    [summary()],
    YES,
  ],
  [
    'summary-beside-evidence',
    'next to evidence it shows no drill',
    'CherryPicked',
    { ...ACCEPT, drills: { required: ['refund'] } },
    [summary(), ...inExport(bundle(1))],
    no('policy.DRILL_MISSING'),
  ],
];

export const summaries = (): PolicyCase[] => rows.map(caseOf);
