import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkKey, trustStore, type SignedStatement, type TrustedKey } from '../../src/trust/index.ts';
import { trusted } from './makers.ts';
import { forAll } from '../support/property.ts';

const NOW = 1_800_000_000_000;
const keyId = trusted(1).keyId;

const statement = (changes: Partial<SignedStatement> = {}): SignedStatement => ({
  issuer: 'acme',
  keyId,
  issuedAtMs: NOW - 1000,
  purpose: 'evidence',
  projectId: 'prj_a',
  organizationId: 'org_a',
  asOfMs: NOW,
  ...changes,
});

/** The codes of problems and notes, for one key in the store and one statement. */
function check(key: Partial<TrustedKey>, changes: Partial<SignedStatement> = {}) {
  const { problems, notes, unchecked } = checkKey(trustStore([trusted(1, key)]), statement(changes));
  return { problems: problems.map(({ code }) => code), notes: notes.map(({ code }) => code), unchecked };
}
const valid = { problems: [], notes: [], unchecked: [] };

const refused = (...problems: string[]) => ({ ...valid, problems });

describe('a key that is valid for a statement', () => {
  it('has the issuer and the key id of the statement, and is returned', () => {
    const { key, problems } = checkKey(trustStore([trusted(1), trusted(2)]), statement());
    expect(problems).toEqual([]);
    expect(key).toEqual(trusted(1));
  });

  it('has a different message than a key id that is trusted for another issuer', () => {
    const [problem] = checkKey(trustStore([trusted(1)]), statement({ issuer: 'other' })).problems;
    const [stranger] = checkKey(trustStore([trusted(2)]), statement()).problems;
    expect(problem?.message).not.toBe(stranger?.message);
  });

  it('has an escaped name in messages', () => {
    const [problem] = checkKey(trustStore([trusted(1)]), statement({ keyId: 'a\n\u001b[2J' })).problems;
    expect(problem?.actual).toBe('key "a\\n\\u001b[2J" of issuer "acme"');
  });
});

describe('the revocation of a key', () => {
  it('does not affect another key with the same point', () => {
    const store = trustStore([trusted(1, { revokedAtMs: 0 }), trusted(1, { keyId: 'new' })]);
    expect(checkKey(store, statement({ keyId: 'new' })).problems).toEqual([]);
  });
});

describe('the result of checking a key', () => {
  it('names every reason, in one order', () => {
    const key = {
      purposes: ['export' as const],
      projects: ['prj_b'],
      organizations: ['org_b'],
      notAfterMs: 0,
      revokedAtMs: 0,
    };
    expect(check(key)).toEqual(
      refused(
        'trust.PURPOSE_MISMATCH',
        'trust.PROJECT_MISMATCH',
        'trust.ORGANIZATION_MISMATCH',
        'trust.KEY_EXPIRED',
        'trust.KEY_REVOKED',
      ),
    );
  });

  it('notes that the chain of a key from a certificate was not checked', () => {
    expect(check({ fromCertificate: true })).toEqual({ ...valid, notes: ['trust.CHAIN_NOT_CHECKED'] });
  });

  it('accepts times outside the calendar', () => {
    expect(check({ notAfterMs: -Number.MAX_SAFE_INTEGER })).toEqual(refused('trust.KEY_EXPIRED'));
  });

  it('is never better for a key that may do less', () => {
    const ms = fc.integer({ min: 0, max: 10 });
    const narrower: fc.Arbitrary<Partial<TrustedKey>> = fc.oneof(
      ms.map((notBeforeMs) => ({ notBeforeMs })),
      ms.map((notAfterMs) => ({ notAfterMs })),
      ms.map((revokedAtMs) => ({ revokedAtMs })),
      ms.map((revokedAtMs) => ({ revokedAtMs, compromised: false })),
    );
    const keys = fc.constantFrom<Partial<TrustedKey>>({}, { projects: ['prj_a'] });
    const projects = fc.constantFrom('prj_a', 'prj_b');
    forAll(100, [keys, narrower, ms, projects], (key, limit, issuedAtMs, projectId) => {
      const wide = check(key, { issuedAtMs, projectId, asOfMs: 10 });
      const narrow = check({ ...key, ...limit }, { issuedAtMs, projectId, asOfMs: 10 });
      expect(narrow.problems).toEqual(expect.arrayContaining(wide.problems));
    });
  });
});
