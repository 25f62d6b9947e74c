import type { Code } from '../../../src/codes/catalogue.ts';
import { type BundleChoices, PROJECT, T, bundle, idOf } from '../../make/bundle.ts';
import { type Case, STATE, judge, replacing, signedZip, trusting, verified } from './case.ts';

const gate = { schemaVersion: 1, assertionId: 'stock', kind: 'state', status: 'failed', gate: true };
const final = {
  schemaVersion: 1,
  checkpointId: 'end',
  kind: 'final',
  virtualTimeUs: 0,
  verdict: 'failed',
  assertionResults: [],
};
const CONTRADICTIONS: readonly (readonly [string, BundleChoices, Code])[] = [
  ['world-inconsistent', { runResult: { '/worldConsistency': 'inconsistent' } }, 'run.WORLD_INCONSISTENT'],
  ['binding-partial', { runResult: { '/bindingEvidence': 'partial' } }, 'run.BINDING_PARTIAL'],
  ['gate-failed', { runResult: { '/assertionResults': [gate] } }, 'run.ASSERTION_FAILED'],
  ['checkpoint-failed', { runResult: { '/checkpoints': [final] } }, 'run.CHECKPOINT_FAILED'],
  ['budget-exceeded', { runResult: { '/budgetUsage/toolCalls/rejected': 1 } }, 'run.BUDGET_EXCEEDED'],
  ['after-signature', { manifest: { '/createdAtMs': T + 1 } }, 'run.AFTER_SIGNATURE'],
];

const contradicting = (): Case[] =>
  CONTRADICTIONS.map(([id, choices, code]) =>
    verified(`run-${id}`, choices, 'Usual', 'the run contradicts itself, which is a warning', code),
  );

export const sound = (): Case[] => [
  verified('signed', {}, 'Usual', 'signed by a trusted key'),
  judge(
    'intact',
    'no-trust',
    signedZip(),
    { trust: undefined },
    ['trust.STORE_ABSENT'],
    'NoTrust',
    'signed, and no trust store is given',
  ),
  judge(
    'intact',
    'unsigned',
    bundle(1).zip,
    {},
    ['bundle.UNSIGNED'],
    'Unsigned',
    'unsigned, or its attestation was taken away: no trace is left in the bundle, only in the export that lists it',
  ),
  judge(
    'intact',
    'unsigned-no-trust',
    bundle(1).zip,
    { trust: undefined },
    ['bundle.UNSIGNED'],
    'Unsigned',
    'unsigned, without a trust store',
  ),
  judge(
    'intact',
    'no-objects',
    bundle(1, { manifest: { '/objects': [] }, entries: (all) => all.slice(0, 1) }).zip,
    {},
    ['bundle.UNSIGNED'],
    'Unsigned',
    'no object',
  ),
  verified(
    'rerun',
    {
      manifest: { '/rerunOfHostedRunId': idOf('hrun', 9) },
      statement: { '/subject/reproduction/originalTrial': 2 },
    },
    'Rerun',
    'a rerun keeps the counters of the run that it reproduces',
  ),
  verified(
    'no-optional',
    {
      runResult: { '/identity/scenarioId': undefined, '/identity/setupHash': undefined },
      statement: {
        '/subject/reproduction/scenarioId': undefined,
        '/subject/reproduction/setupHash': undefined,
      },
    },
    'Binding',
    'optional fields that are absent on both sides',
  ),
  verified(
    'drill-failed',
    { runResult: { '/verdict': 'failed' } },
    'Usual',
    'a drill that failed is evidence like one that passed',
  ),
  ...contradicting(),
  verified(
    'order',
    { entries: (all) => all.toReversed() },
    'UnusualOrder',
    'entries in another order',
    'zip.ORDER_UNUSUAL',
  ),
  verified(
    'metadata',
    { entries: replacing(STATE, (one) => [{ ...one, both: { time: 1, date: 0x5c75 } }]) },
    'UnusualMetadata',
    'an entry with another time',
    'zip.METADATA_UNUSUAL',
  ),
  judge(
    'verified',
    'retired-key',
    signedZip(),
    { trust: trusting({ notAfterMs: T }), asOfMs: T + 1 },
    ['attestation.TIME_CLAIMED'],
    'ClaimedTime',
    'signed by a key that has ended since',
  ),
  judge(
    'verified',
    'limited-key',
    signedZip(),
    { trust: trusting({ projects: [PROJECT] }) },
    [],
    'Scope',
    'a key for this project: the manifest says which it is',
  ),
];
