import type { Decision } from '../../policy/index.ts';
import { collectFacts, placeOf, reasonsOf, type Reason } from './reasons.ts';
import { fileOf, pathOf } from './location.ts';
import { stableJson } from '../json.ts';
import { printable } from '../printable.ts';

const SEVERITY = { failed: 'critical', not_checked: 'major', waived: 'info' } as const;

/** A decision as a GitLab code quality report (docs.gitlab.com, Code Quality, Code Quality report format). */
export function renderDecisionGitlab(decision: Decision): string {
  return stableJson(
    reasonsOf(decision).map((reason) => ({
      description: descriptionOf(reason),
      check_name: reason.rule,
      fingerprint: reason.fingerprint,
      severity: SEVERITY[reason.state],
      location: { path: locationOf(decision, reason), lines: { begin: 1 } },
    })),
  );
}

/** GitLab shows it as plain text in one line. */
function descriptionOf(reason: Reason): string {
  const facts = collectFacts(reason).map(([name, value]) => `${name}: ${value}`);
  const unsure = reason.state === 'not_checked' ? 'could not tell: ' : '';
  return [`${placeOf(reason)}: ${unsure}${reason.message}`, ...facts].join('; ');
}

const locationOf = (decision: Decision, reason: Reason): string => {
  const place = fileOf(decision, reason);
  return place === undefined ? 'policy' : printable(pathOf(place));
};
