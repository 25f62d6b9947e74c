import { defined } from '../../bytes/index.ts';
import type { Decision } from '../../policy/index.ts';
import { formatAnswer, formatFacts, formatReason, reasonsOf, type Reason } from './reasons.ts';
import { fileOf, pathOf } from './location.ts';
import { printable } from '../printable.ts';

type Level = 'error' | 'warning' | 'notice';
type Annotation = {
  readonly level: Level;
  readonly title: string;
  readonly file?: string;
  readonly text: string;
};

/** GitHub shows this many annotations of a level for each step and drops the others silently. */
const MAX_OF_A_LEVEL = 10;

const LEVELS = { failed: 'error', not_checked: 'error', warned: 'warning', waived: 'notice' } as const;
const ANSWER_LEVELS = { yes: 'notice', no: 'error', could_not_tell: 'error' } as const;

/**
 * A decision as annotations of GitHub Actions: workflow commands for standard output, the answer first, then the worst
 * reasons. No more than 10 of a level, of which the last says how many are left out; so never more than 30 of the 50
 * that a job may have.
 */
export function renderDecisionGithub(decision: Decision): string {
  const answer = {
    level: ANSWER_LEVELS[decision.answer],
    title: 'drillproof gate',
    text: formatAnswer(decision),
  };
  const reasons = reasonsOf(decision).map((reason) => annotationOf(decision, reason));
  const shown = (['error', 'warning', 'notice'] as const).flatMap((level) =>
    capped(
      reasons.filter((annotation) => annotation.level === level),
      level === answer.level ? MAX_OF_A_LEVEL - 1 : MAX_OF_A_LEVEL,
    ),
  );
  return [answer, ...shown].map((annotation) => `${commandOf(annotation)}\n`).join('');
}

function annotationOf(decision: Decision, reason: Reason): Annotation {
  const place = fileOf(decision, reason);
  return {
    level: LEVELS[reason.state],
    title: `${reason.rule}: ${reason.title}`,
    ...defined({ file: place && printable(pathOf(place)) }),
    text: [formatReason(reason), ...formatFacts(reason)].join('\n'),
  };
}

function capped(annotations: readonly Annotation[], most: number): readonly Annotation[] {
  if (annotations.length <= most) return annotations;
  const shown = annotations.slice(0, most - 1);
  const left = annotations.length - shown.length;
  const text = `and ${left} more; GitHub shows ${MAX_OF_A_LEVEL} for each step, and the other formats list them all`;
  return [...shown, { level: annotations[0]?.level ?? 'error', title: 'drillproof gate', text }];
}

function commandOf({ level, title, file, text }: Annotation): string {
  const properties = [...(file === undefined ? [] : [`file=${property(file)}`]), `title=${property(title)}`];
  return `::${level} ${properties.join(',')}::${data(text)}`;
}

/** Escaped as the runner unescapes it: first the escape itself, then what would end a line. */
const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** A property ends with a comma or colon too. */
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
