import type { Decision } from '../../policy/index.ts';
import { renderDecisionGithub } from './github.ts';
import { renderDecisionGitlab } from './gitlab.ts';
import { renderDecisionJunit } from './junit.ts';
import { renderDecisionMarkdown } from './markdown.ts';
import { renderDecisionSarif } from './sarif.ts';
import { decisionText } from './text.ts';
import { stableJson } from '../json.ts';
import { pageOf, type TextOptions } from '../text/text.ts';

export type DecisionRenderer = (decision: Decision, options?: TextOptions) => string;

/** Every format of a decision by the name that people give it. */
export const decisionRenderers = {
  text: (decision, options = {}) => `${decisionText(pageOf(options), decision).join('\n')}\n`,
  json: (decision) => stableJson(decision),
  junit: (decision) => renderDecisionJunit(decision),
  sarif: (decision) => renderDecisionSarif(decision),
  github: (decision) => renderDecisionGithub(decision),
  gitlab: (decision) => renderDecisionGitlab(decision),
  markdown: (decision) => renderDecisionMarkdown(decision),
} as const satisfies Readonly<Record<string, DecisionRenderer>>;

export type DecisionFormat = keyof typeof decisionRenderers;
