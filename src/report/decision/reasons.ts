import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import { type Code, codeEntry } from '../../codes/catalogue.ts';
import type {
  Decision,
  EvaluatedInput,
  RuleResult,
  RuleState,
  Violation,
  WaiverResult,
  WaiverUsed,
} from '../../policy/decision.ts';
import { REMOVED } from '../../policy/explain.ts';
import { type RuleId, RULES } from '../../policy/catalogue.ts';
import { findGateCall, formatRun } from '../text/facts.ts';
import { groupBy } from '../../bytes/async.ts';
import { escapeText } from '../printable.ts';

export const ANSWER_WORDS = { yes: 'YES', no: 'NO', could_not_tell: 'COULD NOT TELL' } as const;

/** The word for the state of a rule, in every format for people; the worst state first. */
export const STATE_WORDS = {
  failed: 'failed',
  not_checked: 'could not tell',
  warned: 'warned',
  waived: 'waived',
  passed: 'passed',
  not_applicable: 'nothing to check',
} as const satisfies Readonly<Record<RuleState, string>>;
const STATES = Object.keys(STATE_WORDS) as readonly RuleState[];

/** The rules of a decision, the worst first. */
export const sortRules = ({ rules }: Decision): readonly RuleResult[] =>
  rules.toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));

const ENDS = [
  ['failed', STATE_WORDS.failed],
  ['not_checked', STATE_WORDS.not_checked],
  ['warned', 'only a warning'],
  ['waived', 'only by a waiver'],
] as const satisfies readonly (readonly [RuleState, string])[];

/** The exit code is 0 for every answer, so CI systems show warnings and not errors. */
export const isReportOnly = ({ run }: Decision): boolean => run?.options['report-only'] === true;

const MAX_RULES = 3;

/**
 * One line: the answer, the number of rules by their end, and the names of those that decided it. Rules with nothing to check are listed separately, because
 * they neither held nor failed.
 */
export function formatAnswer(decision: Decision): string {
  const { answer, inputs, rules } = decision;
  const countState = (state: RuleState): number => rules.filter((rule) => rule.state === state).length;
  const idle = countState('not_applicable');
  const applicable = rules.length - idle;
  if (answer === 'could_not_tell' && countState('not_checked') === 0)
    return `${ANSWER_WORDS[answer]}: there is nothing to evaluate`;
  const decisive = DECISIVE[answer];
  const names = rules.filter(({ state }) => state === decisive).map(({ rule }) => rule);
  const more = names.length - MAX_RULES;
  const list = names.slice(0, MAX_RULES).join(', ') + (more > 0 ? ` and ${count(more)} more` : '');
  const ends = ENDS.flatMap(([state, words]) => {
    if (countState(state) === 0) return [];
    return [`${count(countState(state))} ${words}${state === decisive ? ` (${list})` : ''}`];
  });
  const holds = `${count(countState('passed') + countState('waived'))} of ${count(applicable)} rules hold`;
  const rest = idle === 0 ? '' : `; ${count(idle)} more had nothing to check`;
  return `${ANSWER_WORDS[answer]}: ${[`${holds} for ${countNoun(inputs.length, 'input')}`, ...ends].join(', ')}${rest}`;
}

const DECISIVE = { yes: undefined, no: 'failed', could_not_tell: 'not_checked' } as const;

const MAX_ACTIONS = 3;

const UNDECIDED_ACTION =
  'No trusted key attests what this rule needs. Fix what verdict.export and verdict.bundles report, then run the gate again.';

/** The advice of the findings that led to a violation, or else of its code. An undecided rule has its own advice. */
export function actionOf({ rule, code, state, findings = [] }: Violation): string {
  if (findings.length > 0)
    return [...new Set(findings.map((finding) => codeEntry(finding).action))].slice(0, MAX_ACTIONS).join(' ');
  const isCodeOfRule = code === RULES[rule].code;
  return state === 'not_checked' && isCodeOfRule ? UNDECIDED_ACTION : codeEntry(code).action;
}

/** The name of an entry that no rule explains: an answer, or a warning about the evidence. */
export const DECISION_RULE = 'decision';

/**
 * One entry of a format: a violation with the name of its input and what to do. Text from outside is escaped and fits
 * on one line.
 */
export type Reason = {
  readonly rule: RuleId | typeof DECISION_RULE;
  readonly title: string;
  readonly state: Violation['state'];
  readonly code?: Code;
  /** The index in `inputs`; absent for a problem of all inputs together. */
  readonly at?: number;
  readonly input?: string;
  readonly subject: string;
  readonly path?: string;
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The drill, its target, its run, how it ended, and the assertions that did not pass. */
  readonly drill?: string;
  readonly cause?: DrillCause;
  readonly findings: readonly Code[];
  readonly waiver?: string;
  readonly action: string;
  /** SHA-256 of the rule, input, subject, path and code, so that it stays the same while messages change. */
  readonly fingerprint: string;
};

/**
 * Groups entries by their cause: the same findings of the verification, a bundle that is not attested, or a rule and its
 * code. One damaged byte then gives two groups, whatever the number of rules that need the bundle.
 */
export const groupByCause = <T extends Pick<Reason, 'rule' | 'state' | 'code' | 'findings' | 'action'>>(
  entries: readonly T[],
): readonly (readonly [T, ...T[]])[] => [
  ...groupBy(entries, ({ rule, state, code = '', findings, action }) =>
    JSON.stringify([
      state,
      action,
      findings.length > 0 ? findings : action === UNDECIDED_ACTION ? [] : [rule, code],
    ]),
  ).values(),
];

/** The drill of a violation and what went wrong in it: equal for all runs that failed in the same way. */
export type DrillCause = {
  /** `refund on shop`. */
  readonly name: string;
  readonly run: string;
  /** `failed; assertion rpo-under-15m failed`. */
  readonly outcome: string;
  /** The verified runs of the drill on the target. */
  readonly total: number;
};

type Entry = Pick<Reason, 'subject' | 'message' | 'rule' | 'action'> &
  Partial<Pick<Reason, 'path' | 'expected' | 'actual' | 'cause' | 'drill'>> & { readonly input?: unknown };

/** Merges entries of one cause: those about one subject, and those about the runs of one drill with the same values. */
export const mergeByPlace = <T extends Entry>(entries: readonly T[]): readonly T[] =>
  [
    ...groupBy(entries, ({ input = '', subject, path = '', expected = '', actual = '', message, cause }) =>
      JSON.stringify(
        cause === undefined
          ? [input, subject, path, expected, actual]
          : [cause.name, cause.outcome, message, expected, actual],
      ),
    ).values(),
  ].map(mergeEntries);

const MAX_RUNS = 3;

function mergeEntries<T extends Entry>(group: readonly [T, ...T[]]): T {
  const [first] = group;
  const { cause, message } = first;
  const rules = new Set(group.map(({ rule }) => rule)).size;
  if (rules > 1 && first.action === UNDECIDED_ACTION)
    return {
      ...first,
      message: `${countNoun(rules, 'rule')} wait for verdict.bundles; the first: ${message}`,
    };
  const runs = new Set(group.map((entry) => entry.cause?.run ?? entry.subject));
  if (cause === undefined || runs.size === 1)
    return group.length === 1
      ? first
      : { ...first, message: `${message}; and ${countNoun(group.length - 1, 'more violation')}` };
  const names = [...runs].slice(0, MAX_RUNS).join(', ');
  const more = runs.size > MAX_RUNS ? ` and ${count(runs.size - MAX_RUNS)} more` : '';
  return {
    ...first,
    subject: cause.name,
    message: `${count(runs.size)} of ${countNoun(cause.total, 'run')}: ${message}`,
    drill: `${cause.name}: ${cause.outcome}; ${names}${more}`,
  };
}

/** The reasons with one entry for each cause and place. */
export const mergeReasons = (decision: Decision): readonly Reason[] =>
  groupByCause(reasonsOf(decision)).flatMap(mergeByPlace);

type FindCause = (violation: Pick<Violation, 'input' | 'subject'>) => DrillCause | undefined;

/** Finds the drill of a violation, if the evidence of its bundle is known. */
export function indexCauses({ inputs }: Decision): FindCause {
  const bundles = inputs.map(({ evidence = [] }) => new Map(evidence.map((bundle) => [bundle.id, bundle])));
  const verified = inputs.flatMap(({ evidence = [] }) =>
    evidence.filter(({ verdict }) => verdict === 'verified'),
  );
  const totals = groupBy(verified, ({ outcome }) => `${outcome?.drillId} on ${outcome?.targetId}`);
  return ({ input: at, subject }) => {
    const bundle = at === undefined ? undefined : bundles[at]?.get(subject);
    if (bundle?.outcome === undefined || bundle.verdict !== 'verified') return undefined;
    const { drillId, targetId, verdict, assertions = [] } = bundle.outcome;
    const name = `${drillId} on ${targetId}`;
    const bad = assertions
      .filter(({ status }) => status !== 'passed')
      .map(({ id, status }) => `${id} ${status}`);
    const list = bad.slice(0, MAX_NAMES).join(', ');
    const more = bad.length > MAX_NAMES ? ` and ${count(bad.length - MAX_NAMES)} more` : '';
    return {
      name,
      run: bundle.runId ?? subject,
      outcome: `${verdict}${bad.length === 0 ? '' : `; assertion ${list}${more}`}`,
      total: totals.get(name)?.length ?? 0,
    };
  };
}

export const formatCause = ({ name, run, outcome }: DrillCause): string => `${name}, run ${run}: ${outcome}`;

/**
 * All violations, worst first: failed, could not tell, warned, waived; and the warnings about the evidence that no violation
 * names. Unless the answer is `yes` there is at least one that is not waived, so that no format is empty if something is
 * wrong.
 */
export function reasonsOf(decision: Decision): readonly Reason[] {
  const violations = decision.rules.flatMap((rule) => rule.violations);
  const seen = new Map<string, number>();
  const findCause = indexCauses(decision);
  const reasons = [
    ...violations.map((violation) => reasonOf(decision, violation, seen, findCause(violation))),
    ...listWarnings(decision),
  ].toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
  const isExplained =
    decision.answer === 'yes' || reasons.some(({ state }) => state !== 'waived' && state !== 'warned');
  return isExplained ? reasons : [buildUnknownReason(decision), ...reasons];
}

function reasonOf(
  decision: Decision,
  violation: Violation,
  seen: Map<string, number>,
  cause: DrillCause | undefined,
): Reason {
  const { rule, state, code, input: at, subject, path, message, expected, actual, waiver, set } = violation;
  const name = at === undefined ? undefined : decision.inputs[at]?.name;
  return {
    rule,
    title: RULES[rule].title,
    state,
    code,
    ...defined({
      at,
      input: escape(name),
      path: escape(path),
      expected: escape(expected),
      actual: escape(actual),
      drill: escape(cause && formatCause(cause)),
      cause: cause && {
        ...cause,
        name: escapeText(cause.name),
        outcome: escapeText(cause.outcome),
        run: escapeText(cause.run),
      },
      waiver: waiver && escapeText(`waived ${formatWaiver(waiver)}`),
    }),
    subject: escapeText(set === undefined ? subject : `${subject}, ${set}`),
    message: escapeText(message),
    findings: violation.findings ?? [],
    action: actionOf(violation),
    fingerprint: fingerprintOf([rule, name ?? '', subject, path ?? '', code], seen),
  };
}

const escape = (text: string | undefined): string | undefined => text && escapeText(text);

/** Until when a waiver applies, whose it is, and what it removes; not escaped. */
export const formatWaiver = ({ expiresAtMs, owner, reason, removes }: WaiverUsed): string =>
  `until ${isoTime(expiresAtMs)} by ${owner}: ${reason}${removes === undefined ? '' : `. It removes ${REMOVED[removes]}`}`;

export const WAIVER_WORDS = {
  needed: 'needed',
  no_longer_needed: 'no longer needed',
  not_begun: 'not begun',
  expired: 'expired',
  too_long: 'longer than the policy allows',
} as const satisfies Readonly<Record<WaiverResult['state'], string>>;

/** `policy.OUTCOME_VERDICT on drill refund: needed for 3 violations, until … by …: why`, worst first. */
export const formatWaivers = ({ waivers }: Decision): readonly string[] =>
  waivers
    .toSorted((a, b) => Number(a.state === 'needed') - Number(b.state === 'needed'))
    .map(({ code, subject, state, violations, ...waiver }) => {
      const times = state === 'needed' ? ` for ${countNoun(violations, 'violation')}` : '';
      return `${code} on ${subject}: ${WAIVER_WORDS[state]}${times}, ${formatWaiver(waiver)}`;
    });

/** Equal facts get a number, because tools merge entries with equal fingerprints. */
function fingerprintOf(facts: readonly string[], seen: Map<string, number>): string {
  const bytes = canonicalBytes(facts.map((fact) => fact.toWellFormed()));
  const digest = digestOf(bytes);
  const times = seen.get(digest) ?? 0;
  seen.set(digest, times + 1);
  const unique = times === 0 ? digest : digestOf(canonicalBytes([digest, String(times)]));
  return unique.slice('sha256:'.length);
}

/** The codes of warnings about an input and its bundles, each once. */
export const warningsOf = ({ warnings = [], evidence = [] }: EvaluatedInput): readonly Code[] => [
  ...new Set([...warnings, ...evidence.flatMap((bundle) => bundle.warnings ?? [])]),
];

const MAX_NAMES = 10;

/** One entry for each code of a warning, with the inputs that have it. */
export function listWarnings({ inputs, rules }: Decision): readonly Reason[] {
  const violations = rules.flatMap((rule) => rule.violations);
  const found = inputs.flatMap((input, at) =>
    warningsOf(input)
      .filter((code) => !violations.some((named) => named.input === at && named.findings?.includes(code)))
      .map((code) => ({ code, at, name: input.name })),
  );
  return [...groupBy(found, ({ code }) => code).values()].map((group) => {
    const [{ code, at }] = group;
    const names = group.map(({ name }) => name);
    const more = names.length - MAX_NAMES;
    const subject = names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${count(more)} more` : '');
    return {
      rule: DECISION_RULE,
      title: 'a warning about the evidence',
      state: 'warned',
      code,
      at,
      subject: escapeText(subject),
      message: codeEntry(code).meaning,
      findings: [],
      action: codeEntry(code).action,
      fingerprint: fingerprintOf([DECISION_RULE, ...names, code], new Map()),
    };
  });
}

function buildUnknownReason({ answer, inputs }: Decision): Reason {
  const message =
    inputs.length === 0
      ? 'there was nothing to check'
      : `the answer is "${answer}", without a rule that explains it`;
  return {
    rule: DECISION_RULE,
    title: 'the policy is met',
    state: answer === 'no' ? 'failed' : 'not_checked',
    subject: 'all inputs',
    message,
    findings: [],
    action: 'Pass the evidence that the policy is about; nothing to check is never a pass.',
    fingerprint: digestOf(canonicalBytes([DECISION_RULE])).slice('sha256:'.length),
  };
}

/** `mirror: evidence_1 parts/evidence_1.zip`. */
export function placeOf({ input, subject, path }: Reason): string {
  const inside = path === undefined || path === subject ? subject : `${subject} ${path}`;
  return input === undefined || input === subject ? inside : `${input}: ${inside}`;
}

export function listFacts(reason: Reason): readonly (readonly [name: string, value: string])[] {
  const { expected, actual, drill, findings, code, waiver, action, state } = reason;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['expected', expected],
    ['actual', actual],
    ['drill', drill],
    ['code', code],
    ['findings', findings.length === 0 ? undefined : [...new Set(findings)].join(', ')],
    ['waiver', waiver],
    ['to do', state === 'waived' ? undefined : action],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

export const formatFacts = (reason: Reason): string[] =>
  listFacts(reason).map(([name, value]) => `${name}: ${value}`);

/** `input: subject path: message`, with a mark for an undecided rule. */
export const formatReason = (reason: Reason): string =>
  `${placeOf(reason)}: ${reason.state === 'not_checked' ? 'could not tell: ' : ''}${reason.message}`;

export function basisOf(decision: Decision): readonly (readonly [string, string])[] {
  const { policy, trust, asOfMs, run } = decision;
  return [
    ['policy', `${escapeText(policy.name)} ${policy.digest}`],
    [
      'trust store',
      trust === undefined ? 'none given' : `${trust.fingerprint} (${countNoun(trust.keys, 'key')})`,
    ],
    ['verified as of', isoTime(asOfMs)],
    ...(run === undefined ? [] : [['run', escapeText(formatRun(run, findGateCall(decision)))] as const]),
  ];
}

/** The file of a reason: a part or document inside its input, or the policy if there is no input. */
type ReasonFile = { readonly root: string; readonly inside?: string };

export function fileOf(decision: Decision, violated: Pick<Reason, 'at' | 'path'>): ReasonFile | undefined {
  const root = violated.at === undefined ? undefined : decision.inputs[violated.at]?.name;
  if (root === undefined) {
    const policy = decision.policy.sources.at(-1); // what it extends comes before it
    return policy === undefined ? undefined : { root: policy.path };
  }
  // After # comes a place inside the file, such as a JSON pointer.
  const [inside = ''] = (violated.path ?? '').split('#');
  return inside === '' || inside === root ? { root } : { root, inside };
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:\/\//;

/** The place as a URI reference (RFC 3986): relative for a relative path, each segment percent-encoded. */
export function uriOf({ root, inside }: ReasonFile): string {
  const tail = inside === undefined ? '' : `/${segments(inside, true)}`;
  return `${rootUri(root).replace(/\/+$/, '')}${tail}`;
}

function rootUri(root: string): string {
  const scheme = SCHEME.exec(root)?.[0];
  if (scheme !== undefined)
    return `${scheme}${encodeURI(root.slice(scheme.length).toWellFormed()).replace(/[?#[\]]/g, encodeURIComponent)}`;
  if (root.startsWith('/')) return `file://${segments(root, false)}`;
  return segments(root.replace(/^(\.\/+)+(?=.)/, ''), false) || '.';
}

/** A path in the evidence must stay inside its input; a path of the caller may contain `..`. */
const segments = (path: string, confined: boolean): string =>
  path
    .split('/')
    .map((segment) =>
      confined && /^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%2E') : encode(segment),
    )
    .join('/');

const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The place as a path for people and for tools that want paths, not URIs; never empty. */
export const pathOf = ({ root, inside }: ReasonFile): string => {
  const base = root === '' ? '.' : root.replace(/^(\.\/+)+(?=.)/, '');
  return inside === undefined ? base : `${base.replace(/\/+$/, '')}/${inside}`;
};
