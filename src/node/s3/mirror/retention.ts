import { AMOUNT, FLAG, type MembersOf, oneOf, optional, optionsOf } from '../../../bytes/index.ts';
/** How long objects are kept from deletion by the storage itself (S3 Object Lock). */
export type Retention = {
  /** Until when, and whether the lock may be lifted by those with a special right (`GOVERNANCE`) or by nobody. */
  readonly retain?: { readonly mode: 'GOVERNANCE' | 'COMPLIANCE'; readonly untilMs: number };
  /** Kept until the hold is lifted, whatever the time. */
  readonly legalHold?: boolean;
};

/** What each member of a retention may be. */
export const RETENTION: MembersOf<Retention> = {
  retain: optional(optionsOf({ mode: oneOf(['GOVERNANCE', 'COMPLIANCE']), untilMs: AMOUNT })),
  legalHold: optional(FLAG),
};

/** What S3 says of an object's retention. */
type Stated = {
  readonly ObjectLockMode?: string | undefined;
  readonly ObjectLockRetainUntilDate?: Date | undefined;
  readonly ObjectLockLegalHoldStatus?: string | undefined;
};

export const asksForLock = ({ retain, legalHold }: Retention): boolean =>
  retain !== undefined || legalHold === true;

/** A retention as the parameters of a write. */
export const lockParameters = ({ retain, legalHold }: Retention) => ({
  ...(retain !== undefined && {
    ObjectLockMode: retain.mode,
    ObjectLockRetainUntilDate: new Date(retain.untilMs),
  }),
  ...(legalHold === true && { ObjectLockLegalHoldStatus: 'ON' as const }),
});

/** Whether an object is kept at least as asked; times of S3 may lack the milliseconds. */
export function isRetained(stated: Stated, { retain, legalHold }: Retention): boolean {
  const until = stated.ObjectLockRetainUntilDate?.getTime() ?? -Infinity;
  if (legalHold === true && stated.ObjectLockLegalHoldStatus !== 'ON') return false;
  if (retain === undefined) return true;
  const strong = stated.ObjectLockMode === 'COMPLIANCE' || stated.ObjectLockMode === retain.mode;
  return strong && until >= retain.untilMs - (retain.untilMs % 1000);
}
