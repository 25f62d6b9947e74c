import { groupBy } from '../bytes/async.ts';
import {
  checkArguments,
  defined,
  FLAG,
  listOf,
  type Kind,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TIME,
} from '../bytes/arguments.ts';
import type { ChallengeLedger } from '../verify/challenge/ledger.ts';
import type { Code } from '../codes/catalogue.ts';
import type { BundleReport, Finding, TrustUsed } from '../verify/report.ts';
import { RULE_IDS, type RuleId, RULES } from './catalogue.ts';
import type {
  Answer,
  Decision,
  EvaluatedInput,
  EvidenceUsed,
  RuleResult,
  RuleState,
  Violation,
  WaiverUsed,
} from './decision.ts';
import type { PolicyDocument } from './document/document.ts';
import { momentMs } from './document/values.ts';
import { type Baseline, collectFacts, type EvidenceInput, type Facts } from './facts.ts';
import { POLICY, type Policy } from './policy.ts';
import { countRuns } from './rules/baseline.ts';
import { selectFacts } from './rules/conditions.ts';
import type { Problem } from './rules/outcome.ts';
import { formatSelections, listScopes, type Scope, selectSetRules } from './rules/sets.ts';
import { skewMsOf } from './rules/table.ts';
import { findWaiverLimitMs, indexBundles, indexWaivers, type Waivers } from './waivers.ts';

type EvaluateContext = {
  /** The time of the evaluation, a Date or ms since 1970; the reports must have been made as of the same time. */
  readonly asOfMs: number | Date;
  /** The trust store that the reports used. */
  readonly trust?: TrustUsed;
  /** The ledger of challenges, as `verifyLedger` verified it; the rule `challenge.answered` needs it. */
  readonly ledger?: ChallengeLedger;
  /** What will be deployed: every required run must be of the build with this digest. */
  readonly artifact?: Artifact;
  /** The evidence of the last time, as `readBaseline` gives it: no drill may be missing, worse or rarer. */
  readonly baseline?: Baseline;
  /** Fail if a set of rules is about no run. Default: warn. */
  readonly strict?: boolean;
};
type Artifact = NonNullable<Decision['artifact']>;

const INPUT: Kind = {
  what: 'an object with a report, a summary or a failure',
  accepts: (value) =>
    OBJECT.accepts(value) && ['report', 'summary', 'failure'].some((name) => name in (value as object)),
};
const CONTEXT: MembersOf<EvaluateContext> = {
  asOfMs: TIME,
  trust: optional(OBJECT),
  ledger: optional(OBJECT),
  artifact: optional(OBJECT),
  baseline: optional(OBJECT),
  strict: optional(FLAG),
};

/**
 * Evaluates evidence under a policy: every rule of every layer, all violations, and one answer (formats §8). Pure: it
 * reads no clock and throws for nothing that is in a report. The answer is `no` if a rule failed, else `could_not_tell`
 * if something could not be decided or there was nothing to evaluate, else `yes`.
 * @param context.asOfMs the time of the evaluation; the reports must have been made as of the same time
 * @throws TypeError for an argument of the wrong kind
 * @example
 * const asOfMs = Date.now();
 * const report = await verifyDirectory('export', { asOfMs, trust });
 * const decision = evaluate([{ name: 'export', report }], DEFAULT_POLICY, { asOfMs });
 * if (decision.answer !== 'yes') process.exitCode = 1;
 */
export function evaluate(
  inputs: readonly EvidenceInput[],
  policy: Policy,
  context: EvaluateContext,
): Decision {
  const kinds = { inputs: listOf(INPUT), policy: POLICY, context: optionsOf(CONTEXT) };
  checkArguments(kinds, { inputs, policy, context });
  const { trust, ledger, artifact, baseline, strict = false } = context;
  const asOfMs = Number(context.asOfMs);
  const facts: Facts = {
    ...collectFacts(inputs, asOfMs),
    ...defined({ ledger, artifact: artifact?.digest, baseline }),
  };
  const bundles = indexBundles(facts);
  const limitMs = findWaiverLimitMs(policy.layers);
  const layers = policy.layers.map((document, at) => {
    const clock = { asOfMs, skewMs: skewMsOf(document) };
    const waivers = indexWaivers(document, { clock, bundles, limitMs });
    const isLast = at === policy.layers.length - 1; // the policy itself comes after those that it extends
    const scopes = [...listScopes(document), ...(isLast ? listCallScopes(document, facts) : [])];
    const parts = scopes.map((scope): Part => ({
      scope,
      document,
      waivers,
      facts: selectFacts(facts, scope.selections, clock),
    }));
    return { waivers, parts };
  });
  const parts = layers.flatMap((layer) => layer.parts);
  const rules = RULE_IDS.flatMap((rule) => evaluateRule(rule, parts, strict) ?? []);
  const sets = parts.flatMap(({ scope: { name: set, selections }, facts: selected }) =>
    set === undefined || selections.length === 0
      ? []
      : [{ set, selects: formatSelections(selections), runs: selected.bundles.length }],
  );
  const { name, digest, sources, parameters } = policy;
  return {
    schemaVersion: 1,
    kind: 'decision',
    answer: decideAnswer(rules, facts),
    asOfMs,
    policy: { name, digest, sources, ...defined({ parameters }) },
    ...defined({
      trust,
      artifact,
      baseline: baseline && { name: baseline.name, digest: baseline.digest },
      sets: sets.length > 0 ? sets : undefined,
    }),
    inputs: inputs.map(describeInput),
    rules,
    waivers: layers.flatMap(({ waivers }) => waivers.listResults()),
    runs: countRuns(facts),
  };
}

/** The rules that the caller adds to those of the policy. */
function listCallScopes(document: PolicyDocument, { artifact, baseline }: Facts): readonly Scope[] {
  const added = {
    ...(baseline !== undefined && document.baseline === undefined && { baseline: 'required' as const }),
    ...(artifact !== undefined && document.artifact === undefined && { artifact: 'required' as const }),
  };
  const { drills } = document;
  const rules = selectSetRules(document, { ...added, ...defined({ drills }) });
  const names = [...rules].filter(([id]) => /^(?:baseline|artifact)\./.test(id));
  return names.length === 0 ? [] : [{ pointer: '', rules: new Map(names), selections: [] }];
}

/** One scope of one layer, with the facts that it is about. */
type Part = {
  readonly scope: Scope;
  readonly facts: Facts;
  readonly document: PolicyDocument;
  readonly waivers: Waivers;
};

/** Evaluates one rule, which must hold in every scope of every layer that has it. */
function evaluateRule(rule: RuleId, parts: readonly Part[], isStrict: boolean): RuleResult | undefined {
  const results = parts.flatMap(({ scope, facts, document, waivers }) => {
    const outcome = scope.rules.get(rule)?.evaluate(facts);
    if (outcome === undefined) return [];
    const isWarning = rule === 'sets.applied' ? !isStrict : isWarningRule(document, rule, facts.asOfMs);
    const violations = outcome.problems.map((problem) => {
      const code = problem.code ?? RULES[rule].code;
      const waiver = waivers.findWaiver(problem, code);
      return buildViolation({ rule, code, set: scope.name }, problem, { waiver, isWarning });
    });
    return [{ examined: outcome.examined, violations, document, isSet: scope.name !== undefined }];
  });
  if (results.length === 0) return undefined;
  const violations = removeRepeats(results.flatMap((result) => result.violations));
  // Sets divide the runs; layers, and a document and its sets, are about the same runs.
  const sums = groupBy(results, ({ document, isSet }) => (isSet ? document : {})).values();
  const examined = Math.max(...[...sums].map((rows) => rows.reduce((sum, row) => sum + row.examined, 0)));
  return { rule, state: deriveState(violations, examined), examined, violations };
}

/** Whether a layer reports violations of a rule without letting them decide. */
function isWarningRule({ enforcement }: PolicyDocument, rule: RuleId, asOfMs: number): boolean {
  const { severity, effectiveFrom } = enforcement?.[rule] ?? {};
  return severity === 'warn' || (effectiveFrom !== undefined && asOfMs < momentMs(effectiveFrom));
}

/** Equal violations of two layers are one; if only one layer waives it, both remain. */
function removeRepeats(violations: readonly Violation[]): Violation[] {
  const distinct = new Map(violations.map((violation) => [JSON.stringify(violation), violation]));
  return [...distinct.values()];
}

function deriveState(violations: readonly Violation[], examined: number): RuleState {
  const worst = (['failed', 'not_checked', 'warned', 'waived'] as const).find((state) =>
    violations.some((violation) => violation.state === state),
  );
  return worst ?? (examined === 0 ? 'not_applicable' : 'passed');
}

function decideAnswer(rules: readonly RuleResult[], { bundles, summaries }: Facts): Answer {
  if (rules.some(({ state }) => state === 'failed')) return 'no';
  // An empty set never counts as success.
  const nothing = bundles.length === 0 && summaries.length === 0;
  return nothing || rules.some(({ state }) => state === 'not_checked') ? 'could_not_tell' : 'yes';
}

function buildViolation(
  { set, ...named }: Pick<Violation, 'rule' | 'code'> & { readonly set: string | undefined },
  { causes: _causes, of: _of, code: _code, candidates, ...problem }: Problem,
  { waiver, isWarning }: { readonly waiver: WaiverUsed | undefined; readonly isWarning: boolean },
): Violation {
  const violation = { ...named, ...problem, ...defined({ set, candidates }) };
  if (waiver !== undefined) return { ...violation, state: 'waived', waiver };
  return isWarning ? { ...violation, state: 'warned' } : violation;
}

function describeInput(input: EvidenceInput): EvaluatedInput {
  const { name, envelopes } = input;
  const empty = { name, bundles: 0, localReports: 0, ...defined({ envelopes }) };
  if ('failure' in input) return { ...empty, kind: 'unreadable' };
  if ('summary' in input) {
    const { findings: _findings, ...summary } = input.summary;
    return { ...empty, kind: 'summary', summary };
  }
  const { report, pinned = false } = input;
  if (report.kind === 'bundle') {
    const { evidenceBundleId: id, organizationId, projectId, manifestDigest, archive, verdict } = report;
    return {
      ...empty,
      kind: 'bundle',
      ...defined({ id, organizationId, projectId, manifestDigest, archiveDigest: archive?.digest }),
      verdict,
      completeness: pinned ? 'pinned' : 'claimed',
      bundles: 1,
      evidence: [describeBundle(report)],
    };
  }
  const { evidenceExportId: id, manifestDigest, verdict, completeness, signer, parts, localReports } = report;
  const { organizationId, window } = report;
  const findings = [report, ...localReports].flatMap((part) => part.findings);
  return {
    ...empty,
    kind: 'export',
    ...defined({ id, organizationId, window, manifestDigest, signer, warnings: listWarnings(findings) }),
    verdict,
    completeness,
    bundles: parts.length,
    localReports: localReports.length,
    evidence: parts.map(describeBundle),
  };
}

function describeBundle(report: BundleReport): EvidenceUsed {
  const { evidenceBundleId: id, projectId, runId, hostedRunId, rerunOfHostedRunId, path, verdict } = report;
  const { manifestDigest, createdAtMs, reproduction, outcome, signers, findings } = report;
  return {
    verdict,
    ...defined({ id, projectId, runId, hostedRunId, rerunOfHostedRunId, path, manifestDigest, createdAtMs }),
    ...defined({ reproduction, outcome, signers, warnings: listWarnings(findings) }),
  };
}

function listWarnings(findings: readonly Finding[]): readonly Code[] | undefined {
  const codes = new Set(findings.flatMap(({ severity, code }) => (severity === 'warning' ? [code] : [])));
  return codes.size === 0 ? undefined : [...codes];
}
