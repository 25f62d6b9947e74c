import {
  checkArguments,
  defined,
  listOf,
  type Kind,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TIME,
} from '../bytes/arguments.ts';
import type { ChallengeLedger } from '../verify/challenge/ledger.ts';
import type { BundleReport, Finding, TrustUsed } from '../verify/report.ts';
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
import { collectFacts, type EvidenceInput, type Facts } from './facts.ts';
import { POLICY, type Policy } from './policy.ts';
import { RULE_IDS, type RuleId, RULES } from './catalogue.ts';
import { POLICY_RULES } from './rules/table.ts';
import type { Code } from '../codes/catalogue.ts';
import type { PolicyDocument, Waiver } from './document/document.ts';
import { findRemoved } from './explain.ts';
import { momentMs } from './document/values.ts';
import type { Cause, Problem } from './rules/outcome.ts';

type EvaluateContext = {
  /** The time of the evaluation, a Date or ms since 1970; the reports must have been made as of the same time. */
  readonly asOfMs: number | Date;
  /** The trust store that the reports used. */
  readonly trust?: TrustUsed;
  /** The ledger of challenges, as `verifyLedger` verified it; the rule `challenge.answered` needs it. */
  readonly ledger?: ChallengeLedger;
};

const INPUT: Kind = {
  what: 'an object with a report, a summary or a failure',
  accepts: (value) =>
    OBJECT.accepts(value) && ['report', 'summary', 'failure'].some((name) => name in (value as object)),
};
const CONTEXT: MembersOf<EvaluateContext> = {
  asOfMs: TIME,
  trust: optional(OBJECT),
  ledger: optional(OBJECT),
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
  const { trust, ledger } = context;
  const asOfMs = Number(context.asOfMs);
  const facts = { ...collectFacts(inputs, asOfMs), ...defined({ ledger }) };
  const drills = indexDrills(facts);
  const layers = policy.layers.map((document) => ({
    document,
    waivers: indexWaivers(document, asOfMs, drills),
  }));
  const rules = RULE_IDS.flatMap((rule) => evaluateRule(rule, layers, facts) ?? []);
  const { name, digest, sources, parameters } = policy;
  return {
    schemaVersion: 1,
    kind: 'decision',
    answer: decideAnswer(rules, facts),
    asOfMs,
    policy: { name, digest, sources, ...defined({ parameters }) },
    ...defined({ trust }),
    inputs: inputs.map(describeInput),
    rules,
    unusedWaivers: layers.flatMap(({ waivers }) => waivers.listUnused()),
  };
}

type Layer = { readonly document: Policy['layers'][number]; readonly waivers: Waivers };

/** Evaluates one rule, which must hold in every layer that has it. */
function evaluateRule(rule: RuleId, layers: readonly Layer[], facts: Facts): RuleResult | undefined {
  const { code } = RULES[rule];
  const results = layers.flatMap(({ document, waivers }) => {
    const outcome = POLICY_RULES[rule](document)?.evaluate(facts);
    if (outcome === undefined) return [];
    const isWarning = isWarningRule(document, rule, facts.asOfMs);
    const violations = outcome.problems.map((problem) => {
      const violation = buildViolation(rule, code, problem, waivers.findWaiver(problem, code));
      return isWarning && violation.state !== 'waived'
        ? { ...violation, state: 'warned' as const }
        : violation;
    });
    return [{ judged: outcome.judged, violations }];
  });
  if (results.length === 0) return undefined;
  const violations = removeRepeats(results.flatMap((result) => result.violations));
  const judged = Math.max(...results.map((result) => result.judged));
  return { rule, state: deriveState(violations, judged), judged, violations };
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

function deriveState(violations: readonly Violation[], judged: number): RuleState {
  const worst = (['failed', 'not_checked', 'warned', 'waived'] as const).find((state) =>
    violations.some((violation) => violation.state === state),
  );
  return worst ?? (judged === 0 ? 'not_applicable' : 'passed');
}

function decideAnswer(rules: readonly RuleResult[], { bundles, summaries }: Facts): Answer {
  if (rules.some(({ state }) => state === 'failed')) return 'no';
  // An empty set never counts as success.
  const nothing = bundles.length === 0 && summaries.length === 0;
  return nothing || rules.some(({ state }) => state === 'not_checked') ? 'could_not_tell' : 'yes';
}

type DatedWaiver = Waiver & { readonly expiresAtMs: number };

/** The waivers of one layer: they apply to its own rules, and never to those of a policy that it extends. */
type Waivers = {
  /** The waiver of a problem if every cause of it is waived: the one that expires first. */
  findWaiver(problem: Problem, code: Code): WaiverUsed | undefined;
  listUnused(): Decision['unusedWaivers'];
};

/** The drill of each attested bundle; none for an id that bundles of different drills have. */
function indexDrills({ bundles }: Facts): ReadonlyMap<string, string | undefined> {
  const drills = new Map<string, string | undefined>();
  for (const { attested, subject, report } of bundles) {
    const drill = attested ? report.reproduction?.drillId : undefined;
    drills.set(subject, drills.has(subject) && drills.get(subject) !== drill ? undefined : drill);
  }
  return drills;
}

function indexWaivers(
  { waivers = [] }: PolicyDocument,
  asOfMs: number,
  drills: ReadonlyMap<string, string | undefined>,
): Waivers {
  const dated = waivers.map((waiver): DatedWaiver => ({ ...waiver, expiresAtMs: momentMs(waiver.expires) }));
  const valid = dated.filter(({ expiresAtMs }) => asOfMs < expiresAtMs);
  const used = new Set<DatedWaiver>();
  const covers = (waiver: DatedWaiver, subject: string, isOfDrill: boolean): boolean =>
    waiver.drill === undefined
      ? waiver.subject === subject
      : waiver.drill === (isOfDrill ? subject : drills.get(subject));
  const longestFor = ({ subject, code }: Cause, isOfDrill: boolean): DatedWaiver[] =>
    valid
      .filter((waiver) => waiver.code === code && covers(waiver, subject, isOfDrill))
      .toSorted((a, b) => b.expiresAtMs - a.expiresAtMs)
      .slice(0, 1);
  return {
    findWaiver(problem, code) {
      const causes = problem.causes ?? [{ subject: problem.subject, code }];
      // A problem of no input is about a drill, or about all inputs.
      const matching = causes.flatMap((cause) => longestFor(cause, problem.input === undefined));
      // A waiver is used even if another cause is not waived.
      for (const waiver of matching) used.add(waiver);
      const [first] = matching.toSorted((a, b) => a.expiresAtMs - b.expiresAtMs);
      if (first === undefined || matching.length < causes.length) return undefined;
      const removed = matching.flatMap((waiver) => findRemoved(waiver.code) ?? []);
      const removes = removed.find((protection) => protection === 'integrity') ?? removed[0];
      return { ...describe(first), ...defined({ removes }) };
    },
    listUnused: () =>
      dated
        .filter((waiver) => !used.has(waiver))
        .map(({ code, subject, drill, ...waiver }) => ({
          code,
          subject: subject ?? drill ?? '',
          ...describe({ code, ...waiver }),
        })),
  };
}

const describe = ({ reason, owner, expiresAtMs }: DatedWaiver): WaiverUsed => ({
  reason,
  owner,
  expiresAtMs,
});

function buildViolation(
  rule: Violation['rule'],
  code: Code,
  { causes: _causes, ...problem }: Problem,
  waiver: WaiverUsed | undefined,
): Violation {
  const violation = { rule, code, ...problem };
  return waiver === undefined ? violation : { ...violation, state: 'waived', waiver };
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
    const { evidenceBundleId: id, projectId, manifestDigest, archive, verdict } = report;
    return {
      ...empty,
      kind: 'bundle',
      ...defined({ id, projectId, manifestDigest, archiveDigest: archive?.digest }),
      verdict,
      completeness: pinned ? 'pinned' : 'claimed',
      bundles: 1,
      evidence: [describeBundle(report)],
    };
  }
  const { evidenceExportId: id, manifestDigest, verdict, completeness, signer, parts, localReports } = report;
  const findings = [report, ...localReports].flatMap((part) => part.findings);
  return {
    ...empty,
    kind: 'export',
    ...defined({ id, manifestDigest, signer, warnings: listWarnings(findings) }),
    verdict,
    completeness,
    bundles: parts.length,
    localReports: localReports.length,
    evidence: parts.map(describeBundle),
  };
}

function describeBundle(report: BundleReport): EvidenceUsed {
  const { evidenceBundleId: id, runId, path, verdict, manifestDigest, outcome, signers, findings } = report;
  return {
    verdict,
    ...defined({ id, runId, path, manifestDigest, outcome, signers, warnings: listWarnings(findings) }),
  };
}

function listWarnings(findings: readonly Finding[]): readonly Code[] | undefined {
  const codes = new Set(findings.flatMap(({ severity, code }) => (severity === 'warning' ? [code] : [])));
  return codes.size === 0 ? undefined : [...codes];
}
