import type { Code } from '../codes/index.ts';
import type { Violation } from './decision.ts';
import type { BundleFact, Facts, Place } from './facts.ts';

/** What a waiver has to name, all of it, to lift a violation. */
export type Cause = { readonly subject: string; readonly code: Code };

/** A violation as a rule finds it. */
export type Found = Partial<Pick<Violation, 'input' | 'path' | 'expected' | 'actual' | 'findings'>> &
  Pick<Violation, 'subject' | 'message'> & {
    readonly state: 'failed' | 'not_checked';
    /** Default: the code of the rule. Empty: nothing can lift it. */
    readonly causes?: readonly Cause[];
  };

/** What a rule says of everything that it looks at. */
export type Judgement = { readonly judged: number; readonly found: readonly Found[] };
export type Judge = (facts: Facts) => Judgement;

/** The causes of what nobody can lift. */
export const NOTHING: readonly Cause[] = [];

export const failure = (
  { input, subject }: Place,
  message: string,
  values: Partial<Pick<Found, 'expected' | 'actual' | 'path' | 'findings' | 'causes'>> = {},
): Found => ({ state: 'failed', input, subject, message, ...values });

/** What could not be told, and can be lifted by nobody. */
export const unknown = ({ input, subject }: Place, message: string): Found => ({
  state: 'not_checked',
  input,
  subject,
  message,
  causes: NOTHING,
});

/**
 * A fact of a bundle that nobody vouches for. Where every byte is intact, whoever knows it from elsewhere can lift it;
 * of what is damaged or unread nobody can.
 */
export const unattested = (bundle: BundleFact, what: string): Found => ({
  state: 'not_checked',
  input: bundle.input,
  subject: bundle.subject,
  message: `${what} of a bundle that is not verified is nobody's word`,
  ...(bundle.report.verdict !== 'intact' && { causes: NOTHING }),
});

/** A judge of each bundle by itself. */
export const eachBundle =
  (judge: (bundle: BundleFact, facts: Facts) => Found | undefined): Judge =>
  (facts) => ({
    judged: facts.bundles.length,
    found: facts.bundles.flatMap((bundle) => judge(bundle, facts) ?? []),
  });

/** A judge of each attested bundle by itself; of the others nothing can be told. */
export const eachAttested = (
  what: string,
  judge: (bundle: BundleFact, facts: Facts) => Found | undefined,
): Judge =>
  eachBundle((bundle, facts) => (bundle.attested ? judge(bundle, facts) : unattested(bundle, what)));
