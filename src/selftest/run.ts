import { bytesKinds } from './kinds/bytes.ts';
import { cursorsKinds, documentsKinds } from './kinds/documents.ts';
import { dsseKinds, summariesKinds, policiesKinds, receiptsKinds } from './kinds/policies.ts';
import { evidenceKinds } from './kinds/evidence.ts';
import { trustKinds } from './kinds/trust.ts';
import type { Kind, Outcome } from './outcome.ts';
import { type CaseResult, differences, plain } from './result.ts';
import type { SelftestCase } from './vector-file.ts';

/** How each kind is put to our implementation: every way in that there is, each with its outcome. */
export const CASE_KINDS: Readonly<Record<string, Kind>> = {
  ...bytesKinds,
  ...cursorsKinds,
  ...trustKinds,
  ...documentsKinds,
  ...dsseKinds,
  ...evidenceKinds,
  ...receiptsKinds,
  ...policiesKinds,
  ...summariesKinds,
};

/** Puts a case to this program by every way in; `platform` names the primitives on which it runs. */
export async function runCase(
  kind: string,
  one: SelftestCase,
  tests: Kind,
  platform: string,
): Promise<CaseResult[]> {
  const at = (way: string) => ({ kind, id: one.id, way: `${way} (${platform})` });
  try {
    const outcomes = await tests.outcomes(one.input);
    return [...outcomes].map(([way, outcome]) => ({ ...at(way), ...compared(one, outcome) }));
  } catch (error) {
    // An internal error of the verifier fails the case, and the other cases still run.
    const reason = `the verifier failed: ${error instanceof Error ? error.message : String(error)}`;
    return tests.ways.map((way) => ({ ...at(way), state: 'failed', reason, ...about(one) }));
  }
}

const about = ({ flags, expected }: SelftestCase) => ({ flags, expected });

function compared(one: SelftestCase, outcome: Outcome): Pick<CaseResult, 'state' | 'reason' | 'actual'> {
  const actual = plain(outcome);
  const wrong = differences(one.expected, actual);
  if (wrong.length === 0) return { state: 'passed' };
  return { state: 'failed', reason: `wrong ${wrong.join(', ')}`, ...about(one), actual };
}
