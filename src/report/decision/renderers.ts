import type { Decision } from '../../policy/index.ts';
import { renderDecisionGithub } from './github.ts';
import { renderDecisionJunit } from './junit.ts';
import { renderDecisionMarkdown } from './markdown.ts';
import { renderDecisionSarif } from './sarif.ts';
import { decisionText } from './text.ts';
import { renderDecisionPage } from '../html/pages/decision.ts';
import { fileOf, pathOf } from './location.ts';
import { formatFacts, formatReason, type Reason, reasonsOf } from './reasons.ts';
import { stableJson } from '../json.ts';
import { printable } from '../printable.ts';
import { pageOf, type TextOptions } from '../text/text.ts';

export type DecisionOptions = TextOptions & {
  /** In SARIF: the category of this gate among several of a repository. Default: none. */
  readonly category?: string;
};
export type DecisionRenderer = (decision: Decision, options?: DecisionOptions) => string;

/** Every format of a decision by the name that people give it. */
export const decisionRenderers = {
  text: (decision, options = {}) => `${decisionText(pageOf(options), decision, options.detail).join('\n')}\n`,
  json: (decision) => stableJson(decision),
  junit: (decision) => renderDecisionJunit(decision),
  sarif: (decision, { category } = {}) => renderDecisionSarif(decision, category),
  github: (decision) => renderDecisionGithub(decision),
  gitlab: (decision) => renderDecisionGitlab(decision),
  markdown: (decision) => renderDecisionMarkdown(decision),
  html: (decision) => renderDecisionPage(decision),
} as const satisfies Readonly<Record<string, DecisionRenderer>>;

export type DecisionFormat = keyof typeof decisionRenderers;

const SEVERITY = { failed: 'critical', not_checked: 'major', warned: 'minor', waived: 'info' } as const;

/** A decision as a GitLab code quality report (docs.gitlab.com, Code Quality, Code Quality report format). */
function renderDecisionGitlab(decision: Decision): string {
  return stableJson(
    reasonsOf(decision).map((reason) => ({
      description: [formatReason(reason), ...formatFacts(reason)].join('; '),
      check_name: reason.rule,
      fingerprint: reason.fingerprint,
      severity: SEVERITY[reason.state],
      location: { path: locationOf(decision, reason), lines: { begin: 1 } },
    })),
  );
}

const locationOf = (decision: Decision, reason: Reason): string => {
  const place = fileOf(decision, reason);
  return place === undefined ? 'policy' : printable(pathOf(place));
};
