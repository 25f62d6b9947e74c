/** Makes real signed evidence of what a case of a policy describes, and evaluates its policy on it. */
import { defined } from '../../src/bytes/arguments.ts';
import { digestOf } from '../../src/bytes/hash.ts';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { readPartFacts } from '../../src/evidence/bundle/part.ts';
import { packBundle } from '../../src/evidence/bundle/pack-bundle.ts';
import { packExport } from '../../src/evidence/export/pack-export.ts';
import { attestDsse } from '../../src/evidence/in-toto.ts';
import { memorySource } from '../../src/evidence/source.ts';
import type { PolicyCase } from '../../src/policy/cases.ts';
import type { Decision } from '../../src/policy/decision.ts';
import { durationMs, momentMs } from '../../src/policy/document/values.ts';
import { evaluate } from '../../src/policy/evaluate.ts';
import type { EvidenceInput, SummaryFacts } from '../../src/policy/facts.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { skewMsOf } from '../../src/policy/rules/table.ts';
import { summaryFacts } from '../../src/policy/vsa/verify.ts';
import { summarize } from '../../src/policy/vsa/vsa.ts';
import { encodeDsse } from '../../src/trust/dsse.ts';
import type { Signer } from '../../src/trust/key/signer.ts';
import { trustStore, type TrustStore } from '../../src/trust/store.ts';
import type { TrustedKey } from '../../src/trust/trusted-key.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { verifyReceipts } from '../../src/verify/receipts/receipts.ts';
import {
  collect,
  EXPORT_ID,
  hashOf,
  idOf,
  makeBundleInput,
  makeExportInput,
  makeRunResult,
  makeSigner,
  NOW,
} from '../support/evidence.ts';
import { appendReceipts, type Files } from '../support/receipts.ts';
import { decided, enveloped, exportInput } from './vsa-makers.ts';

type Run = NonNullable<PolicyCase['runs']>[number];
type NamedSigner = Exclude<Run['signedBy'], undefined | string | readonly unknown[]>;

const ORGANIZATION = idOf('org', 0);

/** The keys of a case, each made when it first signs, and the store that trusts them. */
function makeKeys(asOfMs: number) {
  const signers = new Map<string, Signer>();
  const trusted = new Map<string, TrustedKey>();
  return {
    find(named: string | NamedSigner, purpose: TrustedKey['purposes'][number]) {
      const { issuer, key = issuer, validFor } = typeof named === 'string' ? { issuer: named } : named;
      const signer = signers.get(key) ?? makeSigner();
      signers.set(key, signer);
      const { keyId, point } = signer;
      const { purposes = [], ...earlier } = trusted.get(`${issuer} ${keyId}`) ?? {};
      trusted.set(`${issuer} ${keyId}`, {
        ...earlier,
        issuer,
        keyId,
        point,
        compromised: true,
        purposes: [...new Set([...purposes, purpose])],
        ...(validFor !== undefined && { notAfterMs: asOfMs + durationMs(validFor) }),
      });
      return { signer, issuer };
    },
    store: (): TrustStore => trustStore([...trusted.values()]),
  };
}
type Keys = ReturnType<typeof makeKeys>;

const makeResult = (n: number, run: Run) =>
  makeRunResult(n, {
    identity: {
      runId: run.runId ?? `run_case-${n}`,
      drillId: run.drill,
      targetId: run.target ?? 'target',
      seed: run.seed ?? String(n),
      ...defined({
        worldInstanceId: run.world,
        scenarioId: run.scenario,
        buildHash: run.build,
        packageLockHash: run.packageLock,
        trial: run.trial,
        trialCount: run.trialCount,
        attempt: run.attempt,
        attemptLimit: run.attemptLimit,
      }),
    },
    verdict: run.outcome ?? 'passed',
    finishedAtVirtualUs: durationMs(run.virtualDuration ?? '1m') * 1_000,
    assertionResults: Object.entries(run.assertions ?? {}).map(([assertionId, status]) => ({
      schemaVersion: 1,
      assertionId,
      kind: 'state',
      status,
      gate: true,
    })),
    checkpoints: Object.entries(run.checkpoints ?? {}).map(([checkpointId, verdict]) => ({
      schemaVersion: 1,
      checkpointId,
      kind: 'final',
      virtualTimeUs: 0,
      verdict,
      assertionResults: [],
    })),
    ...(run.budget === 'exceeded' && {
      budgetUsage: {
        toolCalls: { limit: 1, attempted: 2, rejected: 1 },
        scheduledEvents: { limit: 10, processed: 0, exhausted: false },
      },
    }),
    ...(run.environment !== undefined && { setup: makeSetup(run.drill, run.environment) }),
  });

const makeSetup = (drillId: string, environment: Readonly<Record<string, string>>) => ({
  schemaVersion: 1 as const,
  drillId,
  setup: {
    tools: { packages: [], behaviorOverrides: [] },
    bindings: { environment },
    scenario: {
      actors: [],
      state: [],
      faults: [],
      initialEvents: [],
      virtualTimeUs: 0,
      toolOverrides: [],
    },
  },
  setupHash: hashOf('setup'),
});

/** The part of a run, signed inside by the first issuer, and an envelope of each other one. */
async function makeCasePart(n: number, run: Run, keys: Keys, asOfMs: number) {
  const { ago = '1h', signedAgo = ago, signedBy = 'ci' } = run;
  const issuedAtMs = asOfMs - durationMs(signedAgo);
  const named = run.verdict === 'intact' ? [] : Array.isArray(signedBy) ? signedBy : [signedBy];
  const [first, ...others] = named.map((name) => ({ ...keys.find(name, 'evidence'), issuedAtMs }));
  const input = makeBundleInput(n, {
    organizationId: run.organization ?? ORGANIZATION,
    projectId: run.project ?? idOf('prj', 0),
    runId: run.runId ?? `run_case-${n}`,
    createdAtMs: asOfMs - durationMs(ago),
    runResult: makeResult(n, run),
    ...(run.rerun === true && { rerunOfHostedRunId: idOf('hrun', 0) }),
  });
  const packed = await packBundle(input, first);
  const envelopes: Uint8Array[] = [];
  for (const { signer, issuer } of others) {
    const statement = { ...packed.attestation!.statement, issuer, keyId: signer.keyId };
    envelopes.push(encodeDsse(await attestDsse(statement, [signer])));
  }
  return { bytes: await collect(packed.archive()), envelopes };
}

/** The report on a real export of the runs of a case, whose keys are all trusted. */
async function verifyRuns({ runs = [], list = {}, receipts }: PolicyCase, keys: Keys, settings: Settings) {
  const { asOfMs } = settings;
  const { completeness = 'attested', signedBy = 'ci', from = '52w', through = '1s' } = list;
  if (completeness === 'pinned') throw new TypeError('no case pins its list');
  const files: Files = {};
  const parts = [];
  const dsse: Uint8Array[] = [];
  for (const [at, run] of runs.entries()) {
    const { bytes, envelopes } = await makeCasePart(at + 1, run, keys, asOfMs);
    files[`parts/${idOf('evidence', at + 1)}.zip`] = bytes;
    parts.push(await readPartFacts(memoryAccess(bytes)));
    dsse.push(...envelopes);
  }
  const input = {
    ...makeExportInput(parts),
    organizationId: ORGANIZATION,
    scope: { kind: 'organization' as const },
    fromAtMs: asOfMs - durationMs(from),
    throughAtMs: asOfMs - durationMs(through),
    createdAtMs: asOfMs - 3,
    completedAtMs: asOfMs - 2,
  };
  const signing =
    completeness === 'attested' ? { ...keys.find(signedBy, 'export'), issuedAtMs: asOfMs - 1 } : undefined;
  const packed = await packExport(input, signing);
  for (const { path, bytes } of packed.documents) files[path] = bytes;
  if (receipts !== undefined) await addReceipts(files, receipts, packed.manifestDigest, asOfMs);
  const source = memorySource(files);
  const report = await verifyExport(source, { ...settings, trust: keys.store(), dsse });
  if (receipts === undefined) return { report };
  const { verdict, head } = await verifyReceipts(source, {});
  return { report, receipts: { verdict, ...defined({ finishedAtMs: head?.finishedAtMs }) } };
}
type Settings = { readonly asOfMs: number; readonly clockSkewMs: number };

/** Two receipts; the first is removed from a broken chain. */
async function addReceipts(
  files: Files,
  { verdict, ago = '1h' }: NonNullable<PolicyCase['receipts']>,
  manifestDigest: string,
  asOfMs: number,
): Promise<void> {
  const facts = { evidenceExportId: EXPORT_ID, organizationId: ORGANIZATION, manifestDigest };
  const chain: Files = {};
  const ends = [asOfMs - durationMs(ago) - 1_000, asOfMs - durationMs(ago)];
  await appendReceipts(
    chain,
    ends.map((finishedAtMs) => ({ facts: { ...facts, startedAtMs: finishedAtMs - 1 }, finishedAtMs })),
  );
  const [first, ...rest] = Object.entries(chain).toSorted(([a], [b]) => (a < b ? -1 : 1));
  Object.assign(files, Object.fromEntries(verdict === 'broken' ? rest : [first!, ...rest]));
}

/** A summary of these facts in a signed envelope; its thumbprint names the key, so that two summaries can have one. */
async function signSummary(facts: SummaryFacts, keys: Keys) {
  const {
    verifierId,
    result,
    timeVerifiedMs: asOfMs,
    policyDigest,
    resourceUri,
    inputs,
    thumbprints,
  } = facts;
  const [key] = thumbprints;
  const decision = decided({
    answer: result === 'PASSED' ? 'yes' : 'no',
    asOfMs,
    policy: { name: 'accepted', digest: policyDigest, sources: [] },
    inputs: inputs.map((manifestDigest) => exportInput({ manifestDigest })),
  });
  const statement = summarize(decision, { verifierId, version: '1', resourceUri });
  const { signer } = keys.find({ issuer: verifierId, key: key! }, 'summary');
  return enveloped(statement!, [signer]);
}

/** The decision of a policy on the real evidence of a case. */
export async function decideOnSigned(policy: Policy, expected: PolicyCase): Promise<Decision> {
  const asOfMs = expected.asOf === undefined ? NOW : momentMs(expected.asOf);
  const keys = makeKeys(asOfMs);
  const inputs: EvidenceInput[] = [];
  const summaries = [];
  for (const input of expected.inputs ?? []) {
    if (!('summary' in input)) throw new TypeError('only summaries are made from inputs');
    summaries.push({ name: input.name, envelope: await signSummary(input.summary, keys) });
  }
  for (const { name, envelope } of summaries)
    inputs.push({ name, summary: summaryFacts(envelope, { asOfMs, trust: keys.store() }) });
  const settings = { asOfMs, clockSkewMs: Math.min(...policy.layers.map(skewMsOf)) };
  if (expected.runs !== undefined)
    inputs.push({ name: 'runs', ...(await verifyRuns(expected, keys, settings)) });
  const { artifact, baseline, strict } = expected;
  return evaluate(inputs, policy, {
    asOfMs,
    ...defined({
      artifact: artifact && { name: 'artifact', digest: artifact },
      baseline: baseline && { name: 'last', digest: digestOf(toUtf8('last')), runs: baseline },
      strict,
    }),
  });
}
