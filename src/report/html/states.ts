import type { Severity } from '../../codes/index.ts';
import type { Answer, RuleState } from '../../policy/index.ts';
import type { CheckState, Verdict } from '../../verify/index.ts';
import { html, type Markup } from './markup.ts';

/** The four answers about one link of the chain. */
export type LinkState = 'holds' | 'does_not_hold' | 'could_not_tell' | 'not_asked';

type Tone = 'good' | 'bad' | 'open' | 'idle';
type Look = readonly [tone: Tone, word: string];

/** Every state that a page shows: its color and sign, and its word. The word carries the meaning. */
const LOOKS = {
  holds: ['good', 'holds'],
  does_not_hold: ['bad', 'does not hold'],
  could_not_tell: ['open', 'could not tell'],
  not_asked: ['idle', 'not asked'],
  verified: ['good', 'verified'],
  intact: ['open', 'intact'],
  incomplete: ['open', 'incomplete'],
  failed: ['bad', 'failed'],
  passed: ['good', 'passed'],
  not_checked: ['open', 'not checked'],
  not_applicable: ['idle', 'nothing to check'],
  warned: ['open', 'warned'],
  waived: ['open', 'waived'],
  yes: ['good', 'yes'],
  no: ['bad', 'no'],
  error: ['bad', 'error'],
  warning: ['open', 'warning'],
  info: ['idle', 'note'],
  good: ['good', 'good'],
  damaged: ['bad', 'damaged'],
  missing: ['bad', 'missing'],
  unreadable: ['open', 'unreadable'],
  unread: ['open', 'not read to the end'],
  extra: ['open', 'not listed'],
  repaired: ['good', 'repaired'],
} as const satisfies Readonly<
  Record<LinkState | Verdict | CheckState | RuleState | Answer | Severity, Look> & Record<string, Look>
>;
export type State = keyof typeof LOOKS;

const good = html`<path d="M4 8.5 7 11.5 12 5" />`;
const bad = html`<path d="M5 5 11 11M11 5 5 11" />`;
const open = html`<path d="M8 4.5V9M8 11.4V11.6" />`;
const idle = html`<path d="M5 8H11" />`;
const SIGNS: Readonly<Record<Tone, Markup>> = { good, bad, open, idle };

export const toneOf = (state: State): Tone => LOOKS[state][0];
export const wordOf = (state: State): string => LOOKS[state][1];

/** A state as a drawn sign and its word. Signs are drawings, because a text could contain the characters of a sign. */
export function renderState(state: State, word: string = wordOf(state)): Markup {
  const [tone] = LOOKS[state];
  return html`<span class="state ${tone}"
    ><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <circle cx="8" cy="8" r="7.25" />
      ${SIGNS[tone]}</svg
    ><span>${word}</span></span
  >`;
}
