import type { TrustUsed } from '../verify/report.ts';
import type { Answer, Decision, JudgedInput, RuleResult, RuleState, Violation } from './decision.ts';
import { factsOf, type Facts } from './facts.ts';
import type { EvidenceInput } from './inputs.ts';
import { JUDGES } from './judges/index.ts';
import type { Policy } from './policy.ts';
import { RULES, type RuleId } from './rules.ts';
import { violationOf, waiversOf, type Waivers } from './waivers.ts';

export type EvaluateContext = {
  /** The time of the judgement in ms; the reports must have been made as of the same time. */
  readonly asOfMs: number;
  /** The trust store that the reports rest on. */
  readonly trust?: TrustUsed;
};

const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/**
 * Judges evidence under a policy: every rule of every layer, all violations, and one answer. Pure and total: it reads no
 * clock and throws for nothing that is in a report. The answer is no when a rule failed, else could_not_tell when
 * something could not be told or there was nothing to judge, else yes.
 * @throws TypeError when `asOfMs` is no whole number
 */
export function evaluate(
  inputs: readonly EvidenceInput[],
  policy: Policy,
  { asOfMs, trust }: EvaluateContext,
): Decision {
  if (!Number.isSafeInteger(asOfMs)) throw new TypeError('asOfMs is a time in whole milliseconds');
  const facts = factsOf(inputs, asOfMs);
  const layers = policy.layers.map((document) => ({ document, waivers: waiversOf(document, asOfMs) }));
  const rules = RULE_IDS.flatMap((rule) => judgeRule(rule, layers, facts) ?? []);
  const { name, digest, sources } = policy;
  return {
    schemaVersion: 1,
    kind: 'decision',
    answer: answerOf(rules, facts),
    asOfMs,
    policy: { name, digest, sources },
    ...(trust !== undefined && { trust }),
    inputs: inputs.map(judgedInput),
    rules,
    unusedWaivers: layers.flatMap(({ waivers }) => waivers.unused()),
  };
}

type Layer = { readonly document: Policy['layers'][number]; readonly waivers: Waivers };

/** What became of one rule: it has to hold in every layer that has it. */
function judgeRule(rule: RuleId, layers: readonly Layer[], facts: Facts): RuleResult | undefined {
  const { code } = RULES[rule];
  const results = layers.flatMap(({ document, waivers }) => {
    const judgement = JUDGES[rule](document)?.(facts);
    if (judgement === undefined) return [];
    const violations = judgement.found.map((found) =>
      violationOf(rule, code, found, waivers.lifts(found, code)),
    );
    return [{ judged: judgement.judged, violations }];
  });
  if (results.length === 0) return undefined;
  const violations = distinct(results.flatMap((result) => result.violations));
  const judged = Math.max(...results.map((result) => result.judged));
  return { rule, state: stateOf(violations, judged), judged, violations };
}

/** What two layers find alike is one violation; where only one of them waives it, it stands. */
function distinct(violations: readonly Violation[]): Violation[] {
  const seen = new Map(violations.map((one) => [JSON.stringify(one), one]));
  return [...seen.values()];
}

function stateOf(violations: readonly Violation[], judged: number): RuleState {
  const worst = (['failed', 'not_checked', 'waived'] as const).find((state) =>
    violations.some((one) => one.state === state),
  );
  return worst ?? (judged === 0 ? 'not_applicable' : 'passed');
}

function answerOf(rules: readonly RuleResult[], { bundles, summaries }: Facts): Answer {
  if (rules.some(({ state }) => state === 'failed')) return 'no';
  // An empty set never counts as success.
  const nothing = bundles.length === 0 && summaries.length === 0;
  return nothing || rules.some(({ state }) => state === 'not_checked') ? 'could_not_tell' : 'yes';
}

function judgedInput(one: EvidenceInput): JudgedInput {
  const none = { name: one.name, bundles: 0, localReports: 0 };
  if ('failure' in one) return { ...none, kind: 'unreadable' };
  if ('summary' in one) return { ...none, kind: 'summary' };
  const { report, pinned = false } = one;
  if (report.kind === 'bundle') {
    const { evidenceBundleId: id, projectId, manifestDigest, archive, verdict } = report;
    return {
      ...none,
      kind: 'bundle',
      ...(id !== undefined && { id }),
      ...(projectId !== undefined && { projectId }),
      ...(manifestDigest !== undefined && { manifestDigest }),
      ...(archive !== undefined && { archiveDigest: archive.digest }),
      verdict,
      completeness: pinned ? 'pinned' : 'claimed',
      bundles: 1,
    };
  }
  const { evidenceExportId: id, manifestDigest, verdict, completeness, parts, localReports } = report;
  return {
    ...none,
    kind: 'export',
    ...(id !== undefined && { id }),
    ...(manifestDigest !== undefined && { manifestDigest }),
    verdict,
    completeness,
    bundles: parts.length,
    localReports: localReports.length,
  };
}
