import type { Code } from '../codes/index.ts';
import type { Decision, Violation, WaiverUsed } from './decision.ts';
import type { PolicyDocument, Waiver } from './document/document.ts';
import { momentMs } from './document/values.ts';
import type { Cause, Problem } from './rules/outcome.ts';

type DatedWaiver = Waiver & { readonly expiresAtMs: number };

/** The waivers of one layer: they apply to its own rules, and never to those of a policy that it extends. */
export type Waivers = {
  /** The waiver of a problem if every cause of it is waived: the one that expires first. */
  findWaiver(problem: Problem, code: Code): WaiverUsed | undefined;
  /** Waivers that matched nothing, and expired ones. */
  listUnused(): Decision['unusedWaivers'];
};

export function indexWaivers({ waivers = [] }: PolicyDocument, asOfMs: number): Waivers {
  const dated = waivers.map((waiver): DatedWaiver => ({ ...waiver, expiresAtMs: momentMs(waiver.expires) }));
  const valid = dated.filter(({ expiresAtMs }) => asOfMs < expiresAtMs);
  const used = new Set<DatedWaiver>();
  const longestFor = ({ subject, code }: Cause): DatedWaiver[] =>
    valid
      .filter((waiver) => waiver.code === code && waiver.subject === subject)
      .toSorted((a, b) => b.expiresAtMs - a.expiresAtMs)
      .slice(0, 1);
  return {
    findWaiver(problem, code) {
      const causes = problem.causes ?? [{ subject: problem.subject, code }];
      const matching = causes.flatMap(longestFor);
      // A waiver is used even if another cause is not waived.
      for (const waiver of matching) used.add(waiver);
      const [first] = matching.toSorted((a, b) => a.expiresAtMs - b.expiresAtMs);
      return first === undefined || matching.length < causes.length ? undefined : describe(first);
    },
    listUnused: () =>
      dated
        .filter((waiver) => !used.has(waiver))
        .map((waiver) => ({ ...describe(waiver), code: waiver.code, subject: waiver.subject })),
  };
}

const describe = ({ reason, owner, expiresAtMs }: DatedWaiver): WaiverUsed => ({
  reason,
  owner,
  expiresAtMs,
});

/** A problem as a decision shows it. */
export function buildViolation(
  rule: Violation['rule'],
  code: Code,
  { causes: _causes, ...problem }: Problem,
  waiver: WaiverUsed | undefined,
): Violation {
  const violation = { rule, code, ...problem };
  return waiver === undefined ? violation : { ...violation, state: 'waived', waiver };
}
