import { type Check, CHECK_TEXTS, type CheckState } from '../../verify/index.ts';
import { count, counted, labelled, type Page } from './page.ts';
import { printable } from '../printable.ts';
import { countChecks, type CheckCount } from './tally.ts';

const STATES: Readonly<Record<CheckState, { word: string; paint: 'good' | 'bad' | 'caution' | 'dim' }>> = {
  passed: { word: 'passed', paint: 'good' },
  failed: { word: 'FAILED', paint: 'bad' },
  not_checked: { word: 'not checked', paint: 'caution' },
  not_applicable: { word: 'n/a', paint: 'dim' },
};

const MAX_REASONS = 3;
const STATE_WIDTH = Math.max(...Object.values(STATES).map(({ word }) => word.length));

/** Each check with its state and what a pass of it states. */
export function checkLines(page: Page, checks: readonly Check[]): string[] {
  return checks.flatMap(({ id, state, reason }) => {
    const { word, paint } = STATES[state];
    const label = `  ${word.padEnd(STATE_WIDTH)}  `;
    const why = state === 'not_applicable' && reason !== undefined ? ` (${printable(reason)})` : '';
    return labelled(page, label, `${CHECK_TEXTS[id].sentence}${why}`, page.paint[paint]);
  });
}

/** The checks of many parts, one line for each check with how many of the parts passed it. */
export function manyCheckLines(page: Page, lists: readonly (readonly Check[])[]): string[] {
  return countChecks(lists).flatMap((row) => {
    const label = `  ${share(row).padEnd(STATE_WIDTH)}  `;
    return labelled(page, label, `${CHECK_TEXTS[row.id].sentence}${others(row)}`, page.paint[worst(row)]);
  });
}

function share({ states }: CheckCount): string {
  const applicable = [...states].reduce((sum, [state, n]) => (state === 'not_applicable' ? sum : sum + n), 0);
  if (applicable === 0) return STATES.not_applicable.word;
  return `${count(states.get('passed') ?? 0)}/${count(applicable)}`;
}

function others({ states }: CheckCount): string {
  const rest = (['failed', 'not_checked'] as const).flatMap((state) => {
    const n = states.get(state);
    return n === undefined ? [] : [`${count(n)} ${STATES[state].word}`];
  });
  return rest.length === 0 ? '' : ` (${rest.join(', ')})`;
}

function worst({ states }: CheckCount): 'bad' | 'caution' | 'good' | 'dim' {
  if (states.has('failed')) return 'bad';
  if (states.has('not_checked')) return 'caution';
  return states.has('passed') ? 'good' : 'dim';
}

/** What should have been checked and was not, under the reason why. */
export function notCheckedLines(page: Page, lists: readonly (readonly Check[])[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const row of countChecks(lists)) {
    const times = row.states.get('not_checked') ?? 0;
    if (times === 0) continue;
    const many = lists.length === 1 ? '' : ` (${count(times)} of ${count(lists.length)})`;
    const reason = reasonsOf(row);
    byReason.set(reason, [...(byReason.get(reason) ?? []), `${CHECK_TEXTS[row.id].sentence}${many}`]);
  }
  return [...byReason].flatMap(([reason, checks]) => [
    ...labelled(page, '  - ', `${reason}:`),
    ...checks.flatMap((check) => labelled(page, '      ', check)),
  ]);
}

/** Why checks did not run, each reason with how many checks it kept from running. */
export function notCheckedWords(lists: readonly (readonly Check[])[]): readonly string[] {
  const byReason = new Map<string, number>();
  for (const row of countChecks(lists).filter(({ states }) => states.has('not_checked'))) {
    const reason = reasonsOf(row);
    byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  }
  return [...byReason].map(([reason, times]) => `${counted(times, 'check')} (${reason})`);
}

function reasonsOf({ reasons }: CheckCount): string {
  const all = [...reasons.keys()].map(printable);
  if (all.length === 0) return 'no reason is recorded';
  const left = all.length - MAX_REASONS;
  return all.slice(0, MAX_REASONS).join('; ') + (left > 0 ? `; and ${count(left)} other reasons` : '');
}
