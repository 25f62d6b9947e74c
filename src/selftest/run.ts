import { judgeBytes } from './kinds/bytes.ts';
import { judgeCursors } from './kinds/cursors.ts';
import { judgeDocuments } from './kinds/documents.ts';
import { judgeDsse, judgeSummaries } from './kinds/dsse.ts';
import { judgeEvidence } from './kinds/evidence.ts';
import { judgePolicies, judgeReceipts } from './kinds/policies.ts';
import { judgeTrust } from './kinds/trust.ts';
import type { Judge, Outcome } from './outcome.ts';
import { type CaseResult, differences, plain } from './result.ts';
import type { SelftestCase } from './vector-file.ts';

/** How each kind is put to our implementation: every way in that there is, each with its outcome. */
export const JUDGES: Readonly<Record<string, Judge>> = {
  ...judgeBytes,
  ...judgeCursors,
  ...judgeTrust,
  ...judgeDocuments,
  ...judgeDsse,
  ...judgeEvidence,
  ...judgeReceipts,
  ...judgePolicies,
  ...judgeSummaries,
};

/** Puts a case to this program by every way in; `platform` names the primitives on which it runs. */
export async function runCase(
  kind: string,
  one: SelftestCase,
  judge: Judge,
  platform: string,
): Promise<CaseResult[]> {
  const at = (way: string) => ({ kind, id: one.id, way: `${way} (${platform})` });
  try {
    const outcomes = await judge.outcomes(one.input);
    return [...outcomes].map(([way, outcome]) => ({ ...at(way), ...compared(one, outcome) }));
  } catch (error) {
    // A verifier that ends in a fault of its own has failed the case, and the others go on.
    const reason = `it broke: ${error instanceof Error ? error.message : String(error)}`;
    return judge.ways.map((way) => ({ ...at(way), state: 'failed', reason, ...about(one) }));
  }
}

const about = ({ flags, expected }: SelftestCase) => ({ flags, expected });

function compared(one: SelftestCase, outcome: Outcome): Pick<CaseResult, 'state' | 'reason' | 'actual'> {
  const actual = plain(outcome);
  const wrong = differences(one.expected, actual);
  if (wrong.length === 0) return { state: 'passed' };
  return { state: 'failed', reason: `wrong ${wrong.join(', ')}`, ...about(one), actual };
}
