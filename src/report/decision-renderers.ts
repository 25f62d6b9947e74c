import type { Decision } from '../policy/decision.ts';
import { renderDecisionJunit } from './decision/junit.ts';
import { renderDecisionMarkdown } from './decision/markdown.ts';
import { renderDecisionSarif } from './decision/sarif.ts';
import { formatDecision } from './decision/text.ts';
import { renderDecisionPage } from './html/pages/decision.ts';
import {
  fileOf,
  formatAnswer,
  formatFacts,
  formatReason,
  isReportOnly,
  mergeReasons,
  pathOf,
  type Reason,
} from './decision/reasons.ts';
import { stableJson } from './json.ts';
import { escapeText } from './printable.ts';
import { pageOf, type TextOptions } from './text/text.ts';
import { defined } from '../bytes/arguments.ts';

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
 * reasons. No more than 10 of a level, of which the last states how many are omitted; so never more than 30 of the 50
 * that a job may have.
 */
export function renderDecisionGithub(decision: Decision): string {
  const soften = (level: Level): Level => (isReportOnly(decision) && level === 'error' ? 'warning' : level);
  const answer = {
    level: soften(ANSWER_LEVELS[decision.answer]),
    title: 'drillproof gate',
    text: formatAnswer(decision),
  };
  const reasons = mergeReasons(decision)
    .map((reason) => buildAnnotation(decision, reason))
    .map((annotation) => ({ ...annotation, level: soften(annotation.level) }));
  const shown = (['error', 'warning', 'notice'] as const).flatMap((level) =>
    limitAnnotations(
      reasons.filter((annotation) => annotation.level === level),
      level === answer.level ? MAX_OF_A_LEVEL - 1 : MAX_OF_A_LEVEL,
    ),
  );
  return [answer, ...shown].map((annotation) => `${commandOf(annotation)}\n`).join('');
}

function buildAnnotation(decision: Decision, reason: Reason): Annotation {
  const place = fileOf(decision, reason);
  return {
    level: LEVELS[reason.state],
    title: `${reason.rule}: ${reason.title}`,
    ...defined({ file: place && escapeText(pathOf(place)) }),
    text: [formatReason(reason), ...formatFacts(reason)].join('\n'),
  };
}

function limitAnnotations(annotations: readonly Annotation[], most: number): readonly Annotation[] {
  if (annotations.length <= most) return annotations;
  const shown = annotations.slice(0, most - 1);
  const omitted = annotations.length - shown.length;
  const text = `and ${omitted} more; GitHub shows ${MAX_OF_A_LEVEL} for each step, and the other formats list them all`;
  return [...shown, { level: annotations[0]?.level ?? 'error', title: 'drillproof gate', text }];
}

function commandOf({ level, title, file, text }: Annotation): string {
  const properties = [
    ...(file === undefined ? [] : [`file=${escapeProperty(file)}`]),
    `title=${escapeProperty(title)}`,
  ];
  return `::${level} ${properties.join(',')}::${escapeData(text)}`;
}

/** Escapes first the escape character and then line ends, because the runner unescapes them in reverse. */
const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

type DecisionOptions = TextOptions & {
  /** In SARIF: the category of this gate among several of a repository. Default: none. */
  readonly category?: string;
};
type DecisionRenderer = (decision: Decision, options?: DecisionOptions) => string;

export const decisionRenderers = {
  text: (decision, options = {}) =>
    `${formatDecision(pageOf(options), decision, options.detail).join('\n')}\n`,
  json: (decision) => stableJson(decision),
  junit: (decision) => renderDecisionJunit(decision),
  sarif: (decision, { category } = {}) => renderDecisionSarif(decision, category),
  github: (decision) => renderDecisionGithub(decision),
  markdown: (decision) => renderDecisionMarkdown(decision),
  html: (decision) => renderDecisionPage(decision),
} as const satisfies Readonly<Record<string, DecisionRenderer>>;

export type DecisionFormat = keyof typeof decisionRenderers;
