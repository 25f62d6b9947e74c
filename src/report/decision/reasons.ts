import { canonicalBytes, digestOf, isoTime } from '../../bytes/index.ts';
import type { Code } from '../../codes/index.ts';
import { type Decision, type RuleId, RULES, type Violation } from '../../policy/index.ts';
import { actionOf } from './action.ts';
import { runWords } from '../text/facts.ts';
import { counted } from '../text/figures.ts';
import { printable } from '../printable.ts';

/** The rule under which a format tells what no rule of the policy says. */
export const DECISION_RULE = 'decision';

/**
 * One thing that a format shows: a violation with the name of its input and what to do, every text from outside safe
 * for one line.
 */
export type Reason = {
  readonly rule: RuleId | typeof DECISION_RULE;
  /** What a pass of the rule states. */
  readonly title: string;
  readonly state: Violation['state'];
  readonly code?: Code;
  /** The place in `inputs`; absent for what all of them together lack. */
  readonly at?: number;
  readonly input?: string;
  readonly subject: string;
  readonly path?: string;
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly findings: readonly Code[];
  readonly waiver?: string;
  readonly action: string;
  /** SHA-256 of the rule, input, subject, path and code, so that it stays the same while messages change. */
  readonly fingerprint: string;
};

const ORDER: readonly Violation['state'][] = ['failed', 'not_checked', 'waived'];

/**
 * Everything that stands against the policy, worst first: failed, undecided, waived. Unless the answer is
 * `yes` there is at least one that is not waived, so that no format can show nothing where something is wrong.
 */
export function reasonsOf(decision: Decision): readonly Reason[] {
  const violations = decision.rules.flatMap((rule) => rule.violations);
  const seen = new Map<string, number>();
  const reasons = violations
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
    .map((violation) => reasonOf(decision, violation, seen));
  const told = decision.answer === 'yes' || reasons.some(({ state }) => state !== 'waived');
  return told ? reasons : [unexplained(decision), ...reasons];
}

function reasonOf(decision: Decision, violation: Violation, seen: Map<string, number>): Reason {
  const { rule, state, code, input: at, subject, path, message, expected, actual, waiver } = violation;
  const name = at === undefined ? undefined : decision.inputs[at]?.name;
  return {
    rule,
    title: RULES[rule].title,
    state,
    code,
    ...(at !== undefined && { at }),
    ...(name !== undefined && { input: printable(name) }),
    subject: printable(subject),
    ...(path !== undefined && { path: printable(path) }),
    message: printable(message),
    ...(expected !== undefined && { expected: printable(expected) }),
    ...(actual !== undefined && { actual: printable(actual) }),
    findings: violation.findings ?? [],
    ...(waiver !== undefined && {
      waiver: `waived until ${isoTime(waiver.expiresAtMs)} by ${printable(waiver.owner)}: ${printable(waiver.reason)}`,
    }),
    action: actionOf(violation),
    fingerprint: fingerprintOf([rule, name ?? '', subject, path ?? '', code], seen),
  };
}

/** Equal facts get a number, since those who read fingerprints take equal ones for one thing. */
function fingerprintOf(facts: readonly string[], seen: Map<string, number>): string {
  const bytes = canonicalBytes(facts.map((fact) => fact.toWellFormed()));
  const digest = digestOf(bytes);
  const times = seen.get(digest) ?? 0;
  seen.set(digest, times + 1);
  const own = times === 0 ? digest : digestOf(canonicalBytes([digest, String(times)]));
  return own.slice('sha256:'.length);
}

function unexplained({ answer, inputs }: Decision): Reason {
  const message =
    inputs.length === 0 ? 'there was nothing to check' : `the answer is "${answer}", and no rule says why`;
  return {
    rule: DECISION_RULE,
    title: 'the policy is met',
    state: answer === 'no' ? 'failed' : 'not_checked',
    subject: 'all inputs',
    message,
    findings: [],
    action: 'Give the evidence that the policy speaks of; nothing to check is never a pass.',
    fingerprint: digestOf(canonicalBytes([DECISION_RULE])).slice('sha256:'.length),
  };
}

/** A name with its path, as people read it: `mirror: evidence_1 parts/evidence_1.zip`. */
export function placeOf({ input, subject, path }: Reason): string {
  const inside = path === undefined || path === subject ? subject : `${subject} ${path}`;
  return input === undefined || input === subject ? inside : `${input}: ${inside}`;
}

/** What a reason says besides its place, one fact in each line. */
export function collectFacts(reason: Reason): readonly (readonly [name: string, value: string])[] {
  const { expected, actual, findings, code, waiver, action, state } = reason;
  const known: readonly (readonly [string, string | undefined])[] = [
    ['expected', expected],
    ['actual', actual],
    ['code', code],
    ['findings', findings.length === 0 ? undefined : [...new Set(findings)].join(', ')],
    ['waiver', waiver],
    ['to do', state === 'waived' ? undefined : action],
  ];
  return known.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** The policy, trust and time that a decision rests on, as people read them. */
export function basisOf({ policy, trust, asOfMs, run }: Decision): readonly (readonly [string, string])[] {
  return [
    ['policy', `${printable(policy.name)} ${policy.digest}`],
    [
      'trust store',
      trust === undefined ? 'none given' : `${trust.fingerprint} (${counted(trust.keys, 'key')})`,
    ],
    ['verified as of', isoTime(asOfMs)],
    ...(run === undefined
      ? []
      : [['run', printable(runWords(run))] as const, ['exit code', String(run.exitCode)] as const]),
  ];
}
