import { count, countNoun, isoTime } from '../../../bytes/text/wording.ts';
import type { Decision, EvaluatedInput, RuleResult } from '../../../policy/decision.ts';
import { RULES } from '../../../policy/catalogue.ts';
import { formatAnswer, type Reason, reasonsOf, warningsOf } from '../../decision/reasons.ts';
import { findGateCall } from '../../text/facts.ts';
import {
  type ItemColumn,
  omitCommands,
  quote,
  quoteText,
  renderCaveats,
  renderFacts,
  renderHeader,
  renderItems,
  renderSection,
  renderState,
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
  ['State', ({ state }) => renderState(state)],
  ['Subjects', ({ judged }) => count(judged), 'number'],
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
  const { answer, inputs, rules } = decision;
  const reasons = reasonsOf(decision).map(renderReason);
  const none = html`<p>No rule failed.</p>`;
  return renderDocument(`Decision: ${answer.replaceAll('_', ' ')}`, [
    renderHeader(
      'Decision of a gate',
      renderVerdict(answer, undefined, formatAnswer(decision)),
      renderFacts(listBasisFacts(decision)),
    ),
    renderSection('reasons', 'Reasons', reasons.length === 0 ? [none] : reasons),
    renderSection('rules', 'Rules', [renderItems('Rules of the policy', RULE_COLUMNS, rules)]),
    renderCaveats(CAVEATS),
    renderSection('inputs', 'Appendix: every input', [
      renderItems(countNoun(inputs.length, 'input'), INPUT_COLUMNS, inputs),
    ]),
  ]);
}

const listBasisFacts = (decision: Decision) => {
  const { policy, asOfMs, trust, run } = decision;
  return [
    ['Policy', quote(policy.name)],
    ['SHA-256 of the policy', quote(policy.digest)],
    ...policy.sources.map(
      ({ path, digest }) => ['File of the policy', html`${quote(path)} ${quote(digest)}`] as const,
    ),
    ['Decided as of', isoTime(asOfMs)],
    buildTrustFact(trust),
    buildCallFact(run, findGateCall(decision)),
  ] as const;
};

const renderReason = (reason: Reason): Markup => html`<article class="finding ${toneOf(reason.state)}">
<h3>${renderState(reason.state === 'not_checked' ? 'could_not_tell' : reason.state)} <code>${reason.rule}</code>: ${reason.title}</h3>
${renderFacts([
  ['Expected', quoteText(reason.expected)],
  ['Actual', quoteText(reason.actual)],
  ['What', reason.message],
  [
    'Where',
    [reason.input, reason.subject, reason.path].map((text) =>
      text === undefined ? undefined : html`${quote(text)} `,
    ),
  ],
  ['Code', reason.code === undefined ? undefined : html`<code>${reason.code}</code>`],
  [
    'Findings',
    reason.findings.length === 0 ? undefined : reason.findings.map((code) => html`<code>${code}</code> `),
  ],
  ['Waiver', reason.waiver],
  ['To do', reason.state === 'waived' ? undefined : omitCommands(reason.action)],
])}
</article>
`;
