import { count } from '../../bytes/text/wording.ts';
import { toUtf8 } from '../../bytes/text/encoding.ts';
import type { Decision } from '../../policy/decision.ts';
import { RULES } from '../../policy/catalogue.ts';
import {
  basisOf,
  listFacts,
  mergeReasons,
  placeOf,
  type Reason,
  formatAnswer,
  formatWaivers,
  STATE_WORDS,
} from './reasons.ts';
import { escapeText } from '../printable.ts';

/** The limit of GitHub for a step summary. */
const MAX_BYTES = 1024 * 1024;
/**
 * A decision as GitHub Flavored Markdown, which GitLab reads too: the answer, every reason worst first, every rule.
 * Text from outside is in code spans, in which nothing is a link, a mention, HTML or a table. If the page would exceed
 * `maxBytes` of UTF-8, the least severe reasons are omitted, and the page states how many.
 */
export function renderDecisionMarkdown(decision: Decision, maxBytes = MAX_BYTES): string {
  const head = `# drillproof gate: ${formatAnswer(decision)}\n\n${formatBasis(decision)}`;
  const tail = `${formatRuleTable(decision)}${formatWaiverList(decision)}`;
  const room = maxBytes - bytesOf(head) - bytesOf(tail) - bytesOf(cutLine(Number.MAX_SAFE_INTEGER));
  return `${head}${reasonLines(mergeReasons(decision), room)}${tail}`;
}

const bytesOf = (text: string): number => toUtf8(text.toWellFormed()).length;

const formatBasis = (decision: Decision): string =>
  basisOf(decision)
    .map(([name, value]) => `- ${name}: ${formatCode(value)}\n`)
    .join('');

function reasonLines(reasons: readonly Reason[], room: number): string {
  if (reasons.length === 0) return '';
  const title = '\n## Reasons\n\n';
  let spare = room - title.length;
  const shown: string[] = [];
  for (const reason of reasons) {
    const text = reasonText(reason);
    spare -= bytesOf(text);
    if (spare < 0) break;
    shown.push(text);
  }
  return `${title}${shown.join('')}${cutLine(reasons.length - shown.length)}`;
}

const cutLine = (omitted: number): string =>
  omitted === 0 ? '' : `\n**${count(omitted)} more reasons are omitted; the JSON lists them all.**\n`;

function reasonText(reason: Reason): string {
  const { rule, title, state, message } = reason;
  return [
    `- **${STATE_WORDS[state]}** ${formatCode(rule)}: ${title}`,
    `  - ${formatCode(placeOf(reason))}: ${formatCode(message)}`,
    ...listFacts(reason).map(
      ([name, value]) => `  - ${name}: ${name === 'to do' ? value : formatCode(value)}`,
    ),
    '',
  ].join('\n');
}

function formatRuleTable({ rules }: Decision): string {
  if (rules.length === 0) return '\nNo rule was evaluated.\n';
  const rows = rules.map(({ rule, state, examined }) => {
    const mark = state === 'failed' || state === 'not_checked' ? '**' : '';
    return `| \`${rule}\` | ${RULES[rule].title} | ${mark}${STATE_WORDS[state]}${mark} | ${examined} |\n`;
  });
  return `\n## Rules\n\n| rule | what a pass states | state | examined |\n| --- | --- | --- | ---: |\n${rows.join('')}`;
}

const MAX_WAIVERS = 100;

function formatWaiverList(decision: Decision): string {
  const lines = formatWaivers(decision);
  if (lines.length === 0) return '';
  const rows = lines.slice(0, MAX_WAIVERS).map((line) => `- ${formatCode(escapeText(line))}\n`);
  const omitted = lines.length - rows.length;
  const more = omitted > 0 ? `- and ${count(omitted)} more\n` : '';
  return `\n## Waivers\n\n${rows.join('')}${more}`;
}

/** A code span that no run of backticks inside can end (GFM 6.3). */
function formatCode(text: string): string {
  if (text.trim() === '') return '(empty)';
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = longest > 0 ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}
