import { countNoun } from '../../bytes/text/wording.ts';
import type { PartContents } from '../../evidence/bundle/contents.ts';
import { describeAssertion, listPartFacts } from '../text/contents.ts';
import { size } from '../text/page.ts';
import {
  quote,
  quoteText,
  renderFacts,
  renderItems,
  renderSection,
  renderTimes,
  type State,
  renderState,
} from './blocks.ts';
import { html, type Markup, type Piece } from './document.ts';

const STATES: Readonly<Record<string, State>> = { passed: 'passed', failed: 'failed', error: 'error' };

/** What a part contains: its facts, assertions, objects and the beginning of its texts, as the part states them. */
export function renderContents(contents: PartContents): Markup {
  const { manifest, runResult, previews } = contents;
  const facts = listPartFacts(contents).map(
    ([name, value]) => [name, value && html`<code>${renderTimes(value)}</code>`] as const,
  );
  const assertions = runResult?.assertionResults ?? [];
  return renderSection('contents', 'What the part contains', [
    html`<p class="soft">The part states this. The verdict says whether its bytes are those that were signed.</p>`,
    renderFacts(facts),
    assertions.length === 0
      ? undefined
      : renderItems(
          countNoun(assertions.length, 'assertion'),
          [
            ['Assertion', ({ assertionId }) => quote(assertionId)],
            ['Result', ({ status }) => renderStatus(status)],
            ['What it states', (result) => quoteText(describeAssertion(result) || undefined)],
          ],
          assertions,
        ),
    renderItems(
      countNoun(manifest.objects.length, 'object'),
      [
        ['Object', ({ path }) => quote(path)],
        ['Role', ({ role }) => quoteText(role)],
        ['Media type', ({ mediaType }) => quote(mediaType)],
        ['Size', ({ bytes }) => size(bytes), 'number'],
        ['SHA-256', ({ digest }) => html`<code class="copy">${digest}</code>`],
      ],
      manifest.objects,
    ),
    previews.map(
      ({ path, lines, isWhole }) =>
        html`<h3>${quote(path)}${isWhole ? undefined : ', its beginning'}</h3>
          <pre><code>${lines.map((line) => html`${line}<br />`)}</code></pre> `,
    ),
  ]);
}

const renderStatus = (status: string): Piece => {
  const state = STATES[status];
  return state === undefined ? quote(status) : renderState(state);
};
