import type { Digest } from '../../bytes/hash.ts';
import type { SigningKey } from '../../verify/report.ts';
import { conditionWords, fulfilsAny, type Condition } from '../condition.ts';
import type { BundleFact } from '../facts.ts';
import { eachBundle, failure, unattested, type Found, type Judge } from '../judge.ts';

export type Signers = {
  readonly issuers?: readonly Condition[];
  readonly keys?: readonly Digest[];
  readonly distinct?: number;
};

const NOBODY = 'nobody';

/** A bundle that carries no signature was not signed by whom the policy names; of others their report says it. */
const bySigners = (
  what: string,
  judge: (signers: readonly SigningKey[], bundle: BundleFact) => Found | undefined,
): Judge =>
  eachBundle((bundle) => {
    const { signers = [], signed } = bundle.report;
    if (bundle.attested) return judge(signers, bundle);
    if (signed === false && bundle.report.verdict === 'intact') return judge([], bundle);
    return unattested(bundle, what);
  });

export const issuers = (allowed: readonly Condition[]): Judge =>
  bySigners('the issuer', (signers, bundle) => {
    if (signers.some(({ issuer }) => fulfilsAny(issuer, allowed))) return undefined;
    return failure(bundle, 'no issuer that is allowed signed it', {
      expected: allowed.map(conditionWords).join(' or '),
      actual: listed(signers.map(({ issuer }) => issuer)),
    });
  });

export const keys = (allowed: readonly Digest[]): Judge =>
  bySigners('the key', (signers, bundle) => {
    if (signers.some(({ thumbprint }) => allowed.includes(thumbprint))) return undefined;
    return failure(bundle, 'no key that is allowed signed it', {
      expected: allowed.join(' or '),
      actual: listed(signers.map(({ thumbprint }) => thumbprint)),
    });
  });

/** Keys count by what they are, not by their names, and only those that the same policy allows. */
export const distinct = (least: number, { issuers: by, keys: of }: Signers): Judge =>
  bySigners('the number of keys', (signers, bundle) => {
    const counting = signers.filter(
      ({ issuer, thumbprint }) =>
        (by === undefined || fulfilsAny(issuer, by)) && (of === undefined || of.includes(thumbprint)),
    );
    const different = new Set(counting.map(({ thumbprint }) => thumbprint)).size;
    if (different >= least) return undefined;
    return failure(bundle, 'too few different keys signed it', {
      expected: `at least ${least}`,
      actual: String(different),
    });
  });

const listed = (names: readonly string[]): string =>
  names.length === 0 ? NOBODY : [...new Set(names)].join(', ');
