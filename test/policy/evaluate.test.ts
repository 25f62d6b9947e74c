import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/policy/evaluate.ts';
import type { EvidenceInput } from '../../src/policy/facts.ts';
import type { BundleReport, ExportReport } from '../../src/verify/report.ts';
import {
  AS_OF,
  bundle,
  decide,
  digest,
  layersOf,
  exportOf,
  findingOf,
  inputOf,
  inExport,
  local,
  stateOf,
  violationsOf,
  type Rules,
  GONE,
  omit,
  ONE,
  summaryFacts,
  waiverOf,
} from './make.ts';
import { defined } from '../../src/bytes/arguments.ts';
import { idOf, ORGANIZATION } from '../../vectors/make/bundle.ts';

const outcome = (...verdict: string[]): Rules => ({ outcome: { verdict } });
const bad = (n: number) => bundle(n, { outcome: { verdict: 'failed' } });
const inputsOf = (...inputs: readonly EvidenceInput[]) => decide({}, inputs).inputs;

const signed = ({ signer, organizationId, window }: Partial<ExportReport>) =>
  defined({ signer, organizationId, window });
/** The part of a report on a bundle that a decision repeats. */
function basisOf(report: Partial<BundleReport>) {
  const { evidenceBundleId: id, projectId, runId, hostedRunId, path, verdict, manifestDigest } = report;
  const { createdAtMs, reproduction, outcome: result, signers } = report;
  const place = { id, projectId, runId, hostedRunId, path, verdict, manifestDigest };
  return defined({ ...place, createdAtMs, reproduction, outcome: result, signers });
}

describe('a decision describes each input', () => {
  it('of an export: its id, digest, verdict, and the number of its bundles and local reports', () => {
    const report = exportOf([bundle(1), bundle(2), bundle(3)], { localReports: [local(1), local(2)] });
    expect(inputsOf(inputOf(report, 'mirror'))).toStrictEqual([
      {
        name: 'mirror',
        kind: 'export',
        id: idOf('evexp', 1),
        manifestDigest: digest('export manifest'),
        verdict: 'verified',
        completeness: 'attested',
        bundles: 3,
        localReports: 2,
        ...signed(report),
        evidence: [bundle(1), bundle(2), bundle(3)].map(basisOf),
      },
    ]);
  });

  const unreadExport = {
    ...omit(exportOf([], { verdict: 'incomplete' }), 'evidenceExportId', 'manifestDigest'),
    completeness: 'claimed',
  } as const;
  const unreadPart = omit(bundle(1, { verdict: 'incomplete' }), 'evidenceBundleId', 'projectId');
  it.each([
    [unreadExport, { bundles: 0, evidence: [], ...signed(unreadExport) }],
    [unreadPart, { bundles: 1, organizationId: ORGANIZATION, evidence: [basisOf(unreadPart)] }],
  ])('of an unreadable $kind: no unknown member', (report, values) => {
    const facts = { kind: report.kind, verdict: 'incomplete', completeness: 'claimed', localReports: 0 };
    expect(inputsOf(inputOf(report))).toStrictEqual([{ name: 'evidence', ...facts, ...values }]);
  });

  it('of a part: its id, project, both digests, and whether the caller pinned it', () => {
    const manifestDigest = digest('manifest');
    const report = bundle(1, { manifestDigest, archive: { digest: digest('archive'), bytes: 9 } });
    const facts = {
      name: 'part',
      kind: 'bundle',
      id: ONE,
      organizationId: ORGANIZATION,
      projectId: idOf('prj', 1),
      manifestDigest,
      archiveDigest: digest('archive'),
      verdict: 'verified',
      bundles: 1,
      localReports: 0,
      evidence: [basisOf(report)],
    };
    const input = inputOf(report, 'part');
    expect(inputsOf(input, { ...input, pinned: true })).toStrictEqual([
      { ...facts, completeness: 'claimed' },
      { ...facts, completeness: 'pinned' },
    ]);
  });

  it('of a bundle with warnings: each code once', () => {
    const codes = ['trust.CHAIN_NOT_CHECKED', 'trust.CHAIN_NOT_CHECKED', 'bundle.UNSIGNED'] as const;
    const report = bundle(1, { findings: codes.map((code) => findingOf(code, 'evidence')) });
    expect(inputsOf(inputOf(report))[0]?.evidence?.[0]?.warnings).toEqual(['trust.CHAIN_NOT_CHECKED']);
  });

  it('of a summary: what it states and its keys; of an input that could not be opened: only its kind', () => {
    const summary = summaryFacts();
    const none = { bundles: 0, localReports: 0 };
    const envelopes = [digest('envelope')];
    expect(inputsOf({ name: 'a', summary, envelopes }, GONE)).toStrictEqual([
      { name: 'a', kind: 'summary', ...none, summary: omit(summary, 'findings'), envelopes },
      { name: 'gone', kind: 'unreadable', ...none },
    ]);
  });
});

describe('a decision names its basis', () => {
  const policy = layersOf({ name: 'one' });

  it('the policy, without its rules and layers', () => {
    const sources = [{ path: 'policy.yaml', digest: digest('file') }];
    const decision = evaluate(inExport(bundle(1)), { ...policy, sources }, { asOfMs: AS_OF });
    expect(decision.policy).toStrictEqual({ name: 'layers', digest: policy.digest, sources });
    expect(decision.asOfMs).toBe(AS_OF);
    expect([decision.schemaVersion, decision.kind]).toEqual([1, 'decision']);
  });

  it('the trust store, if one was given', () => {
    const trust = { fingerprint: digest('store'), keys: 2 };
    expect(evaluate([], policy, { asOfMs: AS_OF, trust }).trust).toBe(trust);
    expect(evaluate([], policy, { asOfMs: AS_OF })).not.toHaveProperty('trust');
  });
});

describe('a rule', () => {
  it('is in the decision exactly if a layer has it', () => {
    const evidence = inExport(bundle(1));
    const evaluateRules = (...rules: readonly Rules[]) =>
      evaluate(evidence, layersOf(...rules), { asOfMs: AS_OF }).rules.map(({ rule }) => rule);
    expect(evaluateRules({})).not.toContain('age.max');
    expect(evaluateRules({}, { age: { max: '1d' } })).toContain('age.max');
  });

  it('does not apply if there is no subject for it', () => {
    const alone = decide({ localReports: { allowed: false } }, [inputOf(bundle(1))]);
    expect(stateOf(alone, 'verdict.export')).toBe('not_applicable');
    expect(stateOf(alone, 'localReports.allowed')).toBe('not_applicable');
    expect(stateOf(alone, 'verdict.bundles')).toBe('passed');
  });

  it('counts the subjects of the layer with the most', () => {
    const wanted = layersOf(
      { drills: { required: ['checkout'] } },
      { drills: { required: ['checkout', { drill: 'checkout', outcome: 'passed' }] } },
    );
    for (const layers of [wanted.layers, wanted.layers.toReversed()]) {
      const { rules } = evaluate(inExport(bundle(1)), { ...wanted, layers }, { asOfMs: AS_OF });
      expect(rules.find(({ rule }) => rule === 'drills.required')?.examined).toBe(2);
    }
  });

  it('has equal violations of two layers once, and different ones twice', () => {
    const failed = inExport(bad(1));
    const evaluateRules = (...rules: readonly Rules[]) =>
      violationsOf(evaluate(failed, layersOf(...rules), { asOfMs: AS_OF }), 'outcome.verdict');
    expect(evaluateRules(outcome('passed'), outcome('passed'))).toHaveLength(1);
    expect(evaluateRules(outcome('passed'), outcome('passed', 'skipped'))).toHaveLength(2);
  });

  it('has the state of its worst violation: failed before not_checked before waived', () => {
    const rules: Rules = {
      outcome: { verdict: ['passed'] },
      waivers: [waiverOf('policy.OUTCOME_VERDICT', ONE)],
    };
    const unread = bundle(3, { verdict: 'incomplete', provenance: 'claimed' });
    const evaluateRules = (...parts: readonly ReturnType<typeof bundle>[]) =>
      stateOf(decide(rules, inExport(...parts)), 'outcome.verdict');
    expect(evaluateRules(bad(1))).toBe('waived');
    expect(evaluateRules(bad(1), unread)).toBe('not_checked');
    expect(evaluateRules(bad(1), unread, bad(2))).toBe('failed');
  });
});
