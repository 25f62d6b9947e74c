import { count, countNoun, isoTime } from '../../../bytes/text/wording.ts';
import type { Decision, EvaluatedInput, RuleResult, RuleState } from '../../../policy/decision.ts';
import { RULES } from '../../../policy/catalogue.ts';
import {
  formatAnswer,
  groupByCause,
  mergeByPlace,
  type Reason,
  reasonsOf,
  sortRules,
  STATE_WORDS,
  warningsOf,
} from '../../decision/reasons.ts';
import { findGateCall } from '../../text/facts.ts';
import {
  type ItemColumn,
  omitCommands,
  quote,
  quoteText,
  renderCaveats,
  renderCase,
  renderFacts,
  renderHeader,
  renderItems,
  renderSection,
  renderState,
  renderTime,
  renderVerdict,
  toneOf,
  buildCallFact,
  buildTrustFact,
} from '../blocks.ts';
import { html, type Markup, renderDocument } from '../document.ts';

const CAVEATS = [
  'The answer is about this policy at this time. Another policy, or the same policy at another time, can give a different answer.',
  'Authentic is not successful. A rule about outcomes uses the outcomes that the evidence states.',
  'A waived rule does not hold. The policy accepts the violation until a date.',
] as const;

const RULE_COLUMNS: readonly ItemColumn<RuleResult>[] = [
  ['Rule', ({ rule }) => html`<code>${rule}</code>`],
  ['What a pass states', ({ rule }) => RULES[rule].title],
  ['State', ({ state }) => renderRuleState(state)],
  ['Subjects', ({ examined }) => count(examined), 'number'],
];
const INPUT_COLUMNS: readonly ItemColumn<EvaluatedInput>[] = [
  ['Input', ({ name }) => quote(name)],
  ['Verdict', ({ verdict, kind }) => (verdict === undefined ? kind : renderState(verdict))],
  ['Evidence', ({ id }) => quoteText(id)],
  ['Warnings', (input) => warningsOf(input).join(', ')],
  ['Manifest', ({ manifestDigest }) => quoteText(manifestDigest)],
  ['Bundles', ({ bundles }) => count(bundles), 'number'],
];

export function renderDecisionPage(decision: Decision): string {
  const { answer, inputs } = decision;
  const reasons = groupByCause(reasonsOf(decision)).map(renderCause);
  const none = html`<p>No rule failed.</p>`;
  const title = `Decision: ${answer.replaceAll('_', ' ')}, as of ${isoTime(decision.asOfMs)}`;
  const sections = [
    renderHeader(
      'Decision of a gate',
      title,
      renderVerdict(answer, undefined, formatAnswer(decision).replace(/^[A-Z ]+: /, '')),
      renderFacts(listBasisFacts(decision)),
    ),
    renderSection('reasons', 'Reasons', reasons.length === 0 ? [none] : reasons),
    renderSection('rules', 'Rules', [renderItems('Rules of the policy', RULE_COLUMNS, sortRules(decision))]),
    renderCaveats(CAVEATS),
    renderSection('inputs', 'Appendix: every input', [
      renderItems(countNoun(inputs.length, 'input'), INPUT_COLUMNS, inputs),
    ]),
  ];
  return renderDocument(title, sections);
}

const listBasisFacts = (decision: Decision) => {
  const { policy, asOfMs, trust, run } = decision;
  return [
    ['Policy', quote(policy.name)],
    ['SHA-256 of the policy', quote(policy.digest)],
    ...policy.sources.map(
      ({ path, digest }) => ['File of the policy', html`${quote(path)} ${quote(digest)}`] as const,
    ),
    ['Decided as of', renderTime(asOfMs)],
    buildTrustFact(trust),
    buildCallFact(run, findGateCall(decision)),
  ] as const;
};

const MAX_CASES = 20;

/** A box for each cause, with its rules and what they are about. */
function renderCause(group: readonly [Reason, ...Reason[]]): Markup {
  const [{ state, title, action, findings }] = group;
  const rules = [...new Set(group.map(({ rule }) => rule))];
  const codes = [...new Set(group.flatMap(({ code }) => code ?? []))];
  const places = mergeByPlace(group);
  const more = places.length - MAX_CASES;
  return html`<article class="finding ${toneOf(state)}">
<h3>${renderRuleState(state)} ${rules.map((rule) => html`<code>${rule}</code> `)}${rules.length === 1 ? `: ${title}` : undefined}</h3>
${renderFacts([
  ['Code', codes.map((code) => html`<code>${code}</code> `)],
  ['Findings', findings.length === 0 ? undefined : findings.map((code) => html`<code>${code}</code> `)],
  ['To do', state === 'waived' ? undefined : omitCommands(action)],
])}
${places.slice(0, MAX_CASES).map(renderPlace)}${more > 0 ? html`<p>${count(more)} more are in the JSON of the decision.</p>` : undefined}
</article>
`;
}

const renderPlace = (reason: Reason): Markup =>
  renderCase(reason, [
    ['Drill', quoteText(reason.drill)],
    [
      'Where',
      [reason.input, reason.subject, reason.path].map((text) =>
        text === undefined ? undefined : html`${quote(text)} `,
      ),
    ],
    ['Waiver', reason.waiver],
  ]);

/** One word for a rule that could not be decided, as the answer has it. */
const renderRuleState = (state: RuleState): Markup =>
  renderState(state === 'not_checked' ? 'could_not_tell' : state, STATE_WORDS[state]);
