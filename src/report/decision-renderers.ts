import type { Decision } from '../policy/decision.ts';
import { renderDecisionGithub } from './decision-github.ts';
import { renderDecisionGitlab } from './decision-gitlab.ts';
import { renderDecisionJunit } from './decision-junit.ts';
import { renderDecisionMarkdown } from './decision-markdown.ts';
import { renderDecisionSarif } from './decision-sarif.ts';
import { renderDecisionTap } from './decision-tap.ts';
import { stableJson } from './json.ts';
import type { TextOptions } from './text.ts';

export type DecisionRenderer = (decision: Decision, options?: TextOptions) => string;

/** Every format of a decision by the name that people give it. The same decision gives the same bytes. */
export const decisionRenderers = {
  json: (decision) => stableJson(decision),
  junit: (decision) => renderDecisionJunit(decision),
  sarif: (decision) => renderDecisionSarif(decision),
  github: (decision) => renderDecisionGithub(decision),
  gitlab: (decision) => renderDecisionGitlab(decision),
  markdown: (decision) => renderDecisionMarkdown(decision),
  tap: (decision) => renderDecisionTap(decision),
} as const satisfies Readonly<Record<string, DecisionRenderer>>;

export type DecisionFormat = keyof typeof decisionRenderers;
