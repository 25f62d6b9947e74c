import type { Digest } from '../../bytes/hash.ts';
import { isoTime, markLookalikes } from '../../bytes/text/wording.ts';
import type { SigningKey } from '../../verify/report.ts';
import { durationMs, joinConditions, meetsAny, type Condition } from '../document/values.ts';
import type { BundleFact, Facts } from '../facts.ts';
import {
  buildFailure,
  buildUnattested,
  buildUnknown,
  evaluateBundles,
  type Evaluator,
  type Problem,
} from './outcome.ts';

export type Signers = {
  readonly issuers?: readonly Condition[];
  readonly keys?: readonly Digest[];
  readonly distinct?: number;
};

export const isAllowedSigner = (
  { issuer, thumbprint }: Pick<SigningKey, 'issuer' | 'thumbprint'>,
  { issuers, keys }: Signers,
): boolean =>
  (issuers === undefined || meetsAny(issuer, issuers)) && (keys === undefined || keys.includes(thumbprint));

/**
 * Checks the allowed signers of each bundle. An intact unsigned bundle has no signers; those of an unverified one are not
 * known.
 */
const evaluateSigners = (
  what: string,
  allowed: Signers,
  check: (signers: readonly SigningKey[], bundle: BundleFact, facts: Facts) => Problem | undefined,
): Evaluator =>
  evaluateBundles((bundle, facts) => {
    const { signers = [], signed, verdict } = bundle.report;
    if (bundle.attested)
      return check(
        signers.filter((signer) => isAllowedSigner(signer, allowed)),
        bundle,
        facts,
      );
    if (signed === false && verdict === 'intact') return check([], bundle, facts);
    return buildUnattested(bundle, what);
  });

export const requireSigner = (what: 'issuer' | 'key', allowed: Signers): Evaluator =>
  evaluateSigners(`the ${what}`, {}, (signers, bundle) => {
    if (signers.some((signer) => isAllowedSigner(signer, allowed))) return undefined;
    const names = describeSigners(what, allowed, signers);
    const marks = markLookalikes(names.expected, names.actual);
    return buildFailure(bundle, `no allowed ${what} signed it${marks}`, names);
  });

export const describeSigners = (
  what: 'issuer' | 'key',
  { issuers = [], keys = [] }: Signers,
  signers: readonly SigningKey[],
): { readonly expected: string; readonly actual: string } => ({
  expected: joinConditions(what === 'issuer' ? issuers : keys),
  actual: joinNames(signers.map(({ issuer, thumbprint }) => (what === 'issuer' ? issuer : thumbprint))),
});

/** Counts keys by their points, not by their names, and only those that the same policy allows. */
export const requireDistinctKeys = (least: number, allowed: Signers): Evaluator =>
  evaluateSigners('the number of keys', allowed, (signers, bundle) => {
    const count = countKeys(signers);
    if (count >= least) return undefined;
    return buildFailure(bundle, 'too few different keys signed it', {
      expected: `at least ${least}`,
      actual: String(count),
    });
  });

/** The greatest number of groups that can each have a key that no other group has. */
export function countGroups(groups: readonly (readonly string[])[]): number {
  const owner = new Map<string, number>();
  const place = (group: number, tried: Set<string>): boolean =>
    (groups[group] ?? []).some((key) => {
      if (tried.has(key)) return false;
      tried.add(key);
      const other = owner.get(key);
      if (other !== undefined && !place(other, tried)) return false;
      owner.set(key, group);
      return true;
    });
  return groups.filter((_, group) => place(group, new Set())).length;
}

const thumbprintsOf = (signers: readonly SigningKey[]): readonly string[] =>
  signers.map(({ thumbprint }) => thumbprint);

export const countKeys = (signers: readonly SigningKey[]): number => new Set(thumbprintsOf(signers)).size;

/** Counts issuers, each with a key of its own, of those that the same policy allows. */
export const requireDistinctIssuers = (least: number, allowed: Signers): Evaluator =>
  evaluateSigners('the number of issuers', allowed, (signers, bundle) => {
    const issuers = [...new Set(signers.map(({ issuer }) => issuer))];
    const count = countGroups(
      issuers.map((name) => thumbprintsOf(signers.filter(({ issuer }) => issuer === name))),
    );
    if (count >= least) return undefined;
    const values = { expected: `at least ${least}`, actual: String(count) };
    return buildFailure(bundle, 'too few different issuers signed it, each with a key of its own', values);
  });

type Role = Signers & { readonly role: string };

/** Each role signed with a key that counts for no other role. */
export const requireRoles = (roles: readonly Role[]): Evaluator =>
  evaluateSigners('the roles of the signers', {}, (all, bundle) => {
    const groups = roles.map((role) => thumbprintsOf(all.filter((signer) => isAllowedSigner(signer, role))));
    if (countGroups(groups) === roles.length) return undefined;
    const present = roles.filter((_, at) => (groups[at] ?? []).length > 0);
    return buildFailure(bundle, 'not every role signed it with a key of its own', {
      expected: joinNames(roles.map(({ role }) => role)),
      actual: joinNames(present.map(({ role }) => role)),
    });
  });

export const requireValidity = (least: string, allowed: Signers): Evaluator =>
  evaluateSigners('the end of the key', allowed, (signers, bundle, { asOfMs }) => {
    const ends = signers.flatMap(({ validThroughMs: end }) => (end === undefined ? [] : [end ?? Infinity]));
    const last = Math.max(-Infinity, ...ends);
    if (last >= asOfMs + durationMs(least)) return undefined;
    if (ends.length < signers.length)
      return buildUnknown(bundle, 'the report does not have the ends of the keys');
    return buildFailure(bundle, 'no allowed key that signed it stays valid for so long', {
      expected: `at least ${least}`,
      actual: ends.length === 0 ? 'no signer' : `until ${isoTime(last)}`,
    });
  });

/** Requires a timestamp of every statement about a bundle. */
export const requireTimestamp: Evaluator = evaluateSigners('the timestamp', {}, (signers, bundle) => {
  const unstamped = signers.filter(({ stamp }) => stamp === undefined);
  if (signers.length > unstamped.length && unstamped.length === 0) return undefined;
  const actual = joinNames(unstamped.map(({ issuer }) => issuer));
  return buildFailure(bundle, 'a statement about it has no trusted timestamp', { actual });
});

const joinNames = (names: readonly string[]): string =>
  names.length === 0 ? 'no signer' : [...new Set(names)].join(', ');
