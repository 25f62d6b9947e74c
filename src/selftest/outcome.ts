import type { Code } from '../codes/index.ts';
import { DrillproofError } from '../errors.ts';

/** What our implementation makes of a case, in the form in which the files expect it. */
export type Outcome = { readonly verdict: 'valid' | 'invalid'; readonly [member: string]: unknown };

export const refusal = (code: Code): Outcome => ({ verdict: 'invalid', code });

/** Valid with what `act` gives, or invalid with the code that it throws. */
export async function outcomeOf(
  act: () => Readonly<Record<string, unknown>> | void | Promise<Readonly<Record<string, unknown>>>,
): Promise<Outcome> {
  try {
    return { verdict: 'valid', ...(await act()) };
  } catch (error) {
    if (error instanceof DrillproofError) return refusal(error.code);
    throw error;
  }
}

const BAD: ReadonlySet<string> = new Set(['failed', 'incomplete', 'invalid']);

type Uttered = { readonly findings: readonly { readonly code: string }[] };

/** The outcome of a judgement: its result, and every code in the reports that belong to it. */
export const judgement = (result: string, reports: readonly Uttered[]): Outcome => ({
  verdict: BAD.has(result) ? 'invalid' : 'valid',
  result,
  codes: [...new Set(reports.flatMap(({ findings }) => findings.map(({ code }) => code)))].toSorted(),
});
