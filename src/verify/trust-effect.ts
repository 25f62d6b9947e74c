import type { Code } from '../codes/index.ts';
import type { SignedBy } from './report.ts';
import type { SignatureStanding } from './signature/standing.ts';

/** What becomes of evidence when the trust store changes. */
export const TRUST_OUTCOMES = ['stops', 'unread', 'starts', 'refused', 'stands', 'unsigned'] as const;

/**
 * `stops`: it verifies now and would not then. `starts`: the other way round. `stands`: both. `refused`: neither.
 * `unsigned`: nobody signed it. `unread`: its signature could not be judged.
 */
export type TrustOutcome = (typeof TRUST_OUTCOMES)[number];

export type TrustEffect = {
  readonly kind: SignatureStanding['kind'];
  readonly id: string;
  readonly path?: string;
  readonly outcome: TrustOutcome;
  /** Who signed it, where a key of one of the stores vouches for that. */
  readonly signer?: SignedBy;
  /** Codes that only the changed store brings; where it was unread or refused, all of them. */
  readonly codes: readonly Code[];
};

/** What two judgements of the same signatures, before and after a change of the trust store, differ in. */
export function trustEffects(
  before: readonly SignatureStanding[],
  after: readonly SignatureStanding[],
): TrustEffect[] {
  if (before.length !== after.length) throw new TypeError('the two judgements are of different evidence');
  return before.map((one, at) => effectOf(one, after[at]!));
}

function effectOf(before: SignatureStanding, after: SignatureStanding): TrustEffect {
  const outcome = outcomeOf(before, after);
  const signer = before.signer ?? after.signer;
  const open = outcome === 'unread' || outcome === 'refused';
  return {
    kind: before.kind,
    id: before.id,
    ...(before.path !== undefined && { path: before.path }),
    outcome,
    ...(signer !== undefined && !open && { signer }),
    codes: open ? after.codes : after.codes.filter((code) => !before.codes.includes(code)),
  };
}

function outcomeOf(
  { standing: before }: SignatureStanding,
  { standing: after }: SignatureStanding,
): TrustOutcome {
  if (before === 'unread' || after === 'unread') return 'unread';
  if (before === 'unsigned' && after === 'unsigned') return 'unsigned';
  if (before === 'stands') return after === 'stands' ? 'stands' : 'stops';
  return after === 'stands' ? 'starts' : 'refused';
}
