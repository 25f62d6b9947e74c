import type { Digest } from '../../bytes/index.ts';
import type { SigningKey } from '../../verify/index.ts';
import { formatCondition, fulfilsAny, type Condition } from '../document/values.ts';
import type { BundleFact } from '../facts.ts';
import { buildFailure, buildUnattested, evaluateBundles, type Evaluator, type Problem } from './outcome.ts';

export type Signers = {
  readonly issuers?: readonly Condition[];
  readonly keys?: readonly Digest[];
  readonly distinct?: number;
};

/** Whether a policy allows a signer. */
export const isAllowedSigner = (
  { issuer, thumbprint }: Pick<SigningKey, 'issuer' | 'thumbprint'>,
  { issuers, keys }: Signers,
): boolean =>
  (issuers === undefined || fulfilsAny(issuer, issuers)) && (keys === undefined || keys.includes(thumbprint));

/** An intact unsigned bundle has no signers; the signers of an unverified one are not known. */
const evaluateSigners = (
  what: string,
  check: (signers: readonly SigningKey[], bundle: BundleFact) => Problem | undefined,
): Evaluator =>
  evaluateBundles((bundle) => {
    const { signers = [], signed, verdict } = bundle.report;
    if (bundle.attested) return check(signers, bundle);
    if (signed === false && verdict === 'intact') return check([], bundle);
    return buildUnattested(bundle, what);
  });

export const requireAllowedIssuers = (allowed: readonly Condition[]): Evaluator =>
  evaluateSigners('the issuer', (signers, bundle) => {
    if (signers.some(({ issuer }) => fulfilsAny(issuer, allowed))) return undefined;
    return buildFailure(bundle, 'no allowed issuer signed it', {
      expected: allowed.map(formatCondition).join(' or '),
      actual: joinNames(signers.map(({ issuer }) => issuer)),
    });
  });

export const requireAllowedKeys = (allowed: readonly Digest[]): Evaluator =>
  evaluateSigners('the key', (signers, bundle) => {
    if (signers.some(({ thumbprint }) => allowed.includes(thumbprint))) return undefined;
    return buildFailure(bundle, 'no allowed key signed it', {
      expected: allowed.join(' or '),
      actual: joinNames(signers.map(({ thumbprint }) => thumbprint)),
    });
  });

/** Counts keys by their points, not by their names, and only those that the same policy allows. */
export const requireDistinctKeys = (least: number, signers: Signers): Evaluator =>
  evaluateSigners('the number of keys', (given, bundle) => {
    const allowed = given.filter((signer) => isAllowedSigner(signer, signers));
    const count = new Set(allowed.map(({ thumbprint }) => thumbprint)).size;
    if (count >= least) return undefined;
    return buildFailure(bundle, 'too few different keys signed it', {
      expected: `at least ${least}`,
      actual: String(count),
    });
  });

const joinNames = (names: readonly string[]): string =>
  names.length === 0 ? 'no signer' : [...new Set(names)].join(', ');
