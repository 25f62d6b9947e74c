import { isoTime } from '../../../bytes/index.ts';
import type { ReportChain } from '../../signed/chain.ts';
import { counted } from '../../text/page.ts';
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
import { renderFindings } from '../findings.ts';
import { html, type Markup } from '../markup.ts';
import { renderState, type State } from '../states.ts';

const STATES = { valid: 'holds', invalid: 'does_not_hold', not_judged: 'not_asked' } as const;
const MEANING: Readonly<Record<ReportChain['verdict'], string>> = {
  valid: 'Trusted keys signed every report, and each report follows the one before it.',
  invalid: 'A signature, a link or an end of the chain does not hold. The findings say which.',
  not_judged: 'No trusted keys were given, so no signature was verified.',
};
const CAVEATS = [
  'A signed report says who stated a result and when, by the word of the signer. It does not verify the evidence again.',
  'A chain shows gaps between its reports. Newer reports could be missing at its end, unless you expect its last digest.',
] as const;

/** The chain of signed reports: its verdict, each link, and its findings. */
export function renderSignedChain(chain: ReportChain): Markup {
  const { verdict, reports, findings } = chain;
  return html`${renderVerdict(STATES[verdict], counted(reports.length, 'signed report'), [MEANING[verdict]])}${renderTable(
    'Signed reports, oldest first',
    [['Report'], ['State'], ['Number', 'number'], ['Signed by'], ['Signed'], ['Result'], ['Digest']],
    reports.map(({ name, sequence, issuer, issuedAtMs, report, digest }) => [
      quote(name),
      renderState(stateOf(chain, name)),
      sequence,
      quoted(issuer),
      issuedAtMs === undefined ? undefined : isoTime(issuedAtMs),
      report && html`${report.kind}: ${quote(report.result)}`,
      quoted(digest),
    ]),
  )}${findings.length === 0 ? undefined : renderFindings(findings)}`;
}

const stateOf = ({ verdict, findings }: ReportChain, name: string): State =>
  findings.some(({ subject, severity }) => subject === name && severity === 'error')
    ? 'does_not_hold'
    : verdict === 'not_judged'
      ? 'not_asked'
      : 'holds';

/** The result of `report verify`: the cover, the chain, and what it does not mean. */
export const renderChainBody = (chain: ReportChain): Markup =>
  html`<header class="cover">
<h1>Chain of signed reports</h1>
${renderFacts([['Verified as of', isoTime(chain.asOfMs)], trustFact(chain.trust)])}
</header>
${renderSection('signed', 'Reports', [renderSignedChain(chain)])}${renderCaveats(CAVEATS)}`;

/** The same as a page in one file. */
export const renderChainPage = (chain: ReportChain): string =>
  renderDocument('Chain of signed reports', renderChainBody(chain));
