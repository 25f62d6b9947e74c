import { isoTime } from '../../../bytes/index.ts';
import { type Decision, RULES } from '../../../policy/index.ts';
import { formatAnswer, type Reason, reasonsOf } from '../../decision/reasons.ts';
import { formatRun } from '../../text/facts.ts';
import { count, counted } from '../../text/page.ts';
import {
  quote,
  renderCaveats,
  renderFacts,
  renderSection,
  renderTable,
  renderVerdict,
  trustFact,
} from '../blocks.ts';
import { quoted } from '../cover.ts';
import { renderDocument } from '../document.ts';
import { html, type Markup } from '../markup.ts';
import { renderState, toneOf } from '../states.ts';

const CAVEATS = [
  'The answer is about this policy at this time. Another policy, or the same at another time, can answer otherwise.',
  'Authentic is not successful: a rule about outcomes counts what the evidence says of its drills.',
  'A waived rule does not hold. The policy accepts the violation until a date.',
] as const;

/** The decision of a gate as a page in one file: the answer, every reason worst first, every rule, every input. */
export function renderDecisionPage(decision: Decision): string {
  const { answer, inputs, rules } = decision;
  const title = `Decision: ${answer.replaceAll('_', ' ')}`;
  const reasons = reasonsOf(decision);
  return renderDocument(
    title,
    html`<header class="cover">
<h1>Decision of a gate</h1>
${renderVerdict(answer, undefined, [formatAnswer(decision)])}
${renderFacts(basisFacts(decision))}
</header>
${renderSection('reasons', 'Reasons', reasons.length === 0 ? [html`<p>Nothing speaks against the evidence.</p>`] : reasons.map(renderReason))}${renderSection(
      'rules',
      'Rules',
      [
        renderTable(
          'Rules of the policy',
          [['Rule'], ['What a pass states'], ['State'], ['Subjects', 'number']],
          rules.map(({ rule, state, judged }) => [
            html`<code>${rule}</code>`,
            RULES[rule].title,
            renderState(state),
            count(judged),
          ]),
        ),
      ],
    )}${renderCaveats(CAVEATS)}${renderSection('inputs', 'Appendix: every input', [
      renderTable(
        counted(inputs.length, 'input'),
        [['Input'], ['Verdict'], ['Evidence'], ['Manifest'], ['Bundles', 'number']],
        inputs.map(({ name, verdict, kind, id, manifestDigest, bundles }) => [
          quote(name),
          verdict === undefined ? kind : renderState(verdict),
          quoted(id),
          quoted(manifestDigest),
          count(bundles),
        ]),
      ),
    ])}`,
  );
}

const basisFacts = ({ policy, asOfMs, trust, run }: Decision) =>
  [
    ['Policy', quote(policy.name)],
    ['SHA-256 of the policy', quote(policy.digest)],
    ...policy.sources.map(
      ({ path, digest }) => ['File of the policy', html`${quote(path)} ${quote(digest)}`] as const,
    ),
    ['Decided as of', isoTime(asOfMs)],
    trustFact(trust),
    ['Call', run === undefined ? undefined : quote(formatRun(run, 'gate'))],
  ] as const;

const STATES = {
  failed: 'failed',
  not_checked: 'could_not_tell',
  warned: 'warned',
  waived: 'waived',
} as const;

const renderReason = (reason: Reason): Markup => html`<article class="finding ${toneOf(reason.state)}">
<h3>${renderState(STATES[reason.state])} <code>${reason.rule}</code>: ${reason.title}</h3>
${renderFacts([
  ['Expected', quoted(reason.expected)],
  ['Actual', quoted(reason.actual)],
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
  ['To do', reason.state === 'waived' ? undefined : reason.action],
])}
</article>
`;
