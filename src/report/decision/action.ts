import { codeEntry } from '../../codes/index.ts';
import { RULES, type Violation } from '../../policy/index.ts';

// The worst come first; beyond a few nobody reads on before these are done.
const MAX_ACTIONS = 3;

const UNTOLD =
  'No trusted key attests what this rule needs. Fix what verdict.export and verdict.bundles report, then run the gate again.';

/**
 * What to do about a violation. Where the verification found something, what it says of that; a rule that could not be
 * told names no fault of its own.
 */
export function actionOf({ rule, code, state, findings = [] }: Violation): string {
  if (findings.length > 0)
    return [...new Set(findings.map((one) => codeEntry(one).action))].slice(0, MAX_ACTIONS).join(' ');
  const own = code === RULES[rule].code;
  return state === 'not_checked' && own ? UNTOLD : codeEntry(code).action;
}
