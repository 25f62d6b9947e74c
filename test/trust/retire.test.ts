import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkKey, type SignedStatement } from '../../src/trust/check-key.ts';
import { PURPOSES, type TrustedKey } from '../../src/trust/trusted-key.ts';
import { RETIREMENTS, retireKey, trustStore, type Retirement } from '../../src/trust/store.ts';
import { defined } from '../../src/bytes/arguments.ts';
import { codeOf, trusted } from './makers.ts';
import { forAll } from '../support/property.ts';

const AT = 1000;
const { issuer, keyId } = trusted(1);
const retirement = (how: Retirement['how'], atMs = AT): Retirement => ({ issuer, keyId, how, atMs });
const statement = (issuedAtMs: number): SignedStatement => ({
  issuer,
  keyId,
  issuedAtMs,
  purpose: 'evidence',
  projectId: 'prj_a',
  organizationId: 'org_a',
  asOfMs: AT * 10,
});
const problemsOf = (key: Partial<TrustedKey>, how: Retirement['how'], issuedAtMs: number) =>
  checkKey(retireKey(trustStore([trusted(1, key)]), retirement(how)), statement(issuedAtMs)).problems.map(
    ({ code }) => code,
  );

describe('a key that is retired', () => {
  it.each([
    ['revoked', AT - 1, []],
    ['revoked', AT, ['trust.KEY_REVOKED']],
    ['revoked', AT + 1, ['trust.KEY_REVOKED']],
    ['compromised', 0, ['trust.KEY_REVOKED']],
    ['compromised', AT + 1, ['trust.KEY_REVOKED']],
    ['expired', AT - 1, []],
    ['expired', AT, []],
    ['expired', AT + 1, ['trust.KEY_EXPIRED']],
  ] as const)(
    'as %s is valid for a statement of %d, or not, to the millisecond',
    (how, issuedAtMs, problems) => {
      expect(problemsOf({}, how, issuedAtMs)).toEqual(problems);
    },
  );

  it('keeps an earlier end, revocation and compromise', () => {
    expect(problemsOf({ notAfterMs: 10 }, 'expired', 11)).toEqual(['trust.KEY_EXPIRED']);
    expect(problemsOf({ revokedAtMs: 10, compromised: false }, 'revoked', 10)).toEqual(['trust.KEY_REVOKED']);
    expect(problemsOf({ revokedAtMs: AT * 2 }, 'revoked', 10)).toEqual(['trust.KEY_REVOKED']);
  });

  it('does not change the store of the caller, or another key', () => {
    const store = trustStore([trusted(1), trusted(1, { issuer: 'other' }), trusted(2)]);
    const { fingerprint } = store;
    const after = retireKey(store, retirement('compromised'));
    expect(store.fingerprint).toBe(fingerprint);
    expect(after.fingerprint).not.toBe(fingerprint);
    expect(after.find('other', keyId)).toEqual(store.find('other', keyId));
    expect(after.find(issuer, trusted(2).keyId)).toEqual(trusted(2));
  });

  it('must exist, and must start before it ends', () => {
    const store = trustStore([trusted(1, { notBeforeMs: AT + 1 })]);
    expect(codeOf(() => retireKey(store, { ...retirement('revoked'), keyId: '__proto__' }))).toBe(
      'trust.KEY_UNKNOWN',
    );
    expect(codeOf(() => retireKey(store, retirement('expired')))).toBe('trust.STORE_INVALID');
    expect(codeOf(() => retireKey(store, retirement('expired', AT + 1)))).toBeUndefined();
  });
});

const ms = fc.integer({ min: 0, max: 6 });
const some = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const anyKey: fc.Arbitrary<Partial<TrustedKey>> = fc
  .record({
    notBeforeMs: some(ms),
    notAfterMs: some(ms),
    revokedAtMs: some(ms),
    compromised: fc.boolean(),
    projects: some(fc.subarray(['prj_a', 'prj_b'], { minLength: 1 })),
    organizations: some(fc.subarray(['org_a', 'org_b'], { minLength: 1 })),
    purposes: fc.subarray([...PURPOSES], { minLength: 1 }),
  })
  .filter(({ notBeforeMs = 0, notAfterMs = 6 }) => notBeforeMs <= notAfterMs)
  .map(defined);
const anyStatement = fc
  .record({
    issuedAtMs: ms,
    purpose: fc.constantFrom(...PURPOSES),
    projectId: some(fc.constantFrom('prj_a', 'prj_b', 'prj_c')),
    organizationId: some(fc.constantFrom('org_a', 'org_c')),
  })
  .map(({ projectId, organizationId, ...rest }) => ({ ...statement(0), ...rest, projectId, organizationId }));

it('retiring a key never adds trust, for any key and statement', () => {
  forAll(500, [anyKey, anyStatement, fc.constantFrom(...RETIREMENTS), ms], (key, facts, how, atMs) => {
    fc.pre(how !== 'expired' || atMs >= (key.notBeforeMs ?? 0));
    const store = trustStore([trusted(1, key)]);
    const before = checkKey(store, facts).problems.map(({ code }) => code);
    const after = checkKey(retireKey(store, retirement(how, atMs)), facts).problems.map(({ code }) => code);
    expect(after).toEqual(expect.arrayContaining(before));
  });
});

it('narrowing the limits of a key never adds trust, for any key and statement', () => {
  forAll(500, [anyKey, anyKey, anyStatement], (key, limit, facts) => {
    const narrower: Partial<TrustedKey> = {
      ...key,
      notBeforeMs: Math.max(key.notBeforeMs ?? 0, limit.notBeforeMs ?? 0),
      notAfterMs: Math.min(key.notAfterMs ?? 6, limit.notAfterMs ?? 6),
      ...defined({
        projects: intersect(key.projects, limit.projects),
        organizations: intersect(key.organizations, limit.organizations),
      }),
      purposes: key.purposes!.slice(0, 1),
    };
    fc.pre(narrower.notBeforeMs! <= narrower.notAfterMs!);
    const isValid = (members: Partial<TrustedKey>) => {
      const { problems, unchecked } = checkKey(trustStore([trusted(1, members)]), facts);
      return problems.length === 0 && unchecked.length === 0;
    };
    if (isValid(narrower)) expect(isValid(key)).toBe(true);
  });
});

/** The items in both lists; the first list if there are none, because a list is never empty. */
function intersect(
  ours: readonly string[] | undefined,
  limit: readonly string[] | undefined,
): readonly string[] | undefined {
  if (ours === undefined) return limit;
  const both = ours.filter((id) => limit?.includes(id) !== false);
  return both.length > 0 ? both : ours;
}
