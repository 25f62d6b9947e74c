import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkKey,
  PURPOSES,
  trustStore,
  type SignedStatement,
  type TrustedKey,
} from '../../src/trust/index.ts';
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
function judged(key: Partial<TrustedKey>, changes: Partial<SignedStatement> = {}) {
  const { problems, notes, unchecked } = checkKey(trustStore([trusted(1, key)]), statement(changes));
  return { problems: problems.map(({ code }) => code), notes: notes.map(({ code }) => code), unchecked };
}
const stands = { problems: [], notes: [], unchecked: [] };
const timeClaimed = { ...stands, notes: ['attestation.TIME_CLAIMED'] };
const refused = (...problems: string[]) => ({ ...stands, problems });

describe('a key that is valid for a statement', () => {
  it('is the one of that issuer and key id, and is handed back', () => {
    const { key, problems } = checkKey(trustStore([trusted(1), trusted(2)]), statement());
    expect(problems).toEqual([]);
    expect(key).toEqual(trusted(1));
  });

  it.each([
    ['another issuer', { issuer: 'other' }],
    ['another key id', { keyId: trusted(2).keyId }],
    ['a key id in upper case', { keyId: keyId.toUpperCase() }],
    ['the key id __proto__', { keyId: '__proto__' }],
    ['the issuer constructor', { issuer: 'constructor' }],
    ['a key id like a path', { keyId: '../../x' }],
  ])('is not there for %s', (_, changes) => {
    const { key, problems } = checkKey(trustStore([trusted(1)]), statement(changes));
    expect(key).toBeUndefined();
    expect(problems.map(({ code }) => code)).toEqual(['trust.KEY_UNKNOWN']);
  });

  it('has a different message than a key id that is trusted for another issuer', () => {
    const [problem] = checkKey(trustStore([trusted(1)]), statement({ issuer: 'other' })).problems;
    const [stranger] = checkKey(trustStore([trusted(2)]), statement()).problems;
    expect(problem?.message).not.toBe(stranger?.message);
  });

  it('is named with nothing unescaped', () => {
    const [problem] = checkKey(trustStore([trusted(1)]), statement({ keyId: 'a\n\u001b[2J' })).problems;
    expect(problem?.actual).toBe('key "a\\n\\u001b[2J" of issuer "acme"');
  });
});

it.each(PURPOSES)('the purposes of a key make it valid for %s only when they name it', (purpose) => {
  const others = PURPOSES.filter((one) => one !== purpose);
  expect(judged({ purposes: [purpose] }, { purpose })).toEqual(stands);
  expect(judged({ purposes: others }, { purpose })).toEqual(refused('trust.PURPOSE_MISMATCH'));
});

it('the scope of a key holds for project and organization each', () => {
  expect(judged({ projects: ['prj_b', 'prj_a'], organizations: ['org_a'] })).toEqual(stands);
  expect(judged({ projects: ['prj_b'] })).toEqual(refused('trust.PROJECT_MISMATCH'));
  expect(judged({ organizations: ['org_b'] })).toEqual(refused('trust.ORGANIZATION_MISMATCH'));
  expect(judged({ organizations: ['prj_a'] })).toEqual(refused('trust.ORGANIZATION_MISMATCH'));
});

it('the scope of a key is unchecked only when project or organization of the evidence is unknown', () => {
  const scoped = { projects: ['prj_a'], organizations: ['org_a'] };
  const store = trustStore([trusted(1, scoped)]);
  const bare: SignedStatement = { issuer: 'acme', keyId, issuedAtMs: 0, purpose: 'evidence' };
  expect(checkKey(store, bare)).toMatchObject({ problems: [], unchecked: ['project', 'organization'] });
  expect(checkKey(store, { ...bare, projectId: 'prj_a' }).unchecked).toEqual(['organization']);
  expect(checkKey(trustStore([trusted(1)]), bare).unchecked).toEqual([]);
});

describe('the window of a key', () => {
  it.each([
    [999, ['trust.KEY_NOT_YET_VALID']],
    [1000, []],
    [1001, []],
    [1999, []],
    [2000, []],
    [2001, ['trust.KEY_EXPIRED']],
  ])('from 1000 to 2000 judges a statement of %d exactly', (issuedAtMs, problems) => {
    const key = { notBeforeMs: 1000, notAfterMs: 2000 };
    expect(judged(key, { issuedAtMs, asOfMs: 2000 })).toEqual({ ...stands, problems });
  });

  it('lets two keys overlap while they are rotated', () => {
    const store = trustStore([trusted(1, { notAfterMs: 2000 }), trusted(2, { notBeforeMs: 1000 })]);
    const by = (seed: number, issuedAtMs: number) =>
      checkKey(store, statement({ keyId: trusted(seed).keyId, issuedAtMs, asOfMs: 2000 })).problems.map(
        ({ code }) => code,
      );
    expect([by(1, 999), by(1, 1500), by(2, 1500), by(2, 2001)]).toEqual([[], [], [], []]);
    expect([by(2, 999), by(1, 2001)]).toEqual([['trust.KEY_NOT_YET_VALID'], ['trust.KEY_EXPIRED']]);
  });

  it('makes the time of an old statement a claim once it has ended', () => {
    const key = { notAfterMs: NOW - 1 };
    expect(judged(key)).toEqual(timeClaimed);
    expect(judged({ notAfterMs: NOW })).toEqual(stands);
    expect(judged(key, { asOfMs: NOW - 1 })).toEqual(stands);
  });

  it('counts as ended when no time of verification is known', () => {
    const store = trustStore([trusted(1, { notAfterMs: NOW })]);
    const { asOfMs: _, ...timeless } = statement();
    expect(checkKey(store, timeless).notes.map(({ code }) => code)).toEqual(['attestation.TIME_CLAIMED']);
    expect(checkKey(trustStore([trusted(1)]), timeless).notes).toEqual([]);
  });
});

describe('the revocation of a key', () => {
  it('takes every statement when the key is compromised, whenever it was issued', () => {
    for (const issuedAtMs of [-1, 999, 1000, 1001, NOW]) {
      expect(judged({ revokedAtMs: 1000 }, { issuedAtMs })).toEqual(refused('trust.KEY_REVOKED'));
    }
  });

  it('bites at once, even when it lies ahead', () => {
    expect(judged({ revokedAtMs: NOW + 5000 })).toEqual(refused('trust.KEY_REVOKED'));
  });

  it('leaves earlier statements when the key is not compromised, to the millisecond', () => {
    const key = { revokedAtMs: 1000, compromised: false };
    expect(judged(key, { issuedAtMs: 999 })).toEqual(timeClaimed);
    expect(judged(key, { issuedAtMs: 1000 })).toEqual(refused('trust.KEY_REVOKED'));
    expect(judged(key, { issuedAtMs: 1001 })).toEqual(refused('trust.KEY_REVOKED'));
  });

  it('does not touch another key of the same point', () => {
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
    expect(judged(key)).toEqual(
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
    expect(judged({ fromCertificate: true })).toEqual({ ...stands, notes: ['trust.CHAIN_NOT_CHECKED'] });
  });

  it('accepts times outside the calendar', () => {
    expect(judged({ notAfterMs: -Number.MAX_SAFE_INTEGER })).toEqual(refused('trust.KEY_EXPIRED'));
  });

  it('is never better for a key that may do less', () => {
    const ms = fc.integer({ min: 0, max: 10 });
    const narrower: fc.Arbitrary<Partial<TrustedKey>> = fc.oneof(
      ms.map((notBeforeMs) => ({ notBeforeMs })),
      ms.map((notAfterMs) => ({ notAfterMs })),
      ms.map((revokedAtMs) => ({ revokedAtMs })),
      ms.map((revokedAtMs) => ({ revokedAtMs, compromised: false })),
    );
    const one: fc.Arbitrary<Partial<TrustedKey>> = fc.constantFrom<Partial<TrustedKey>>(
      {},
      { projects: ['prj_a'] },
    );
    forAll(
      100,
      [one, narrower, ms, fc.constantFrom('prj_a', 'prj_b')],
      (key, less, issuedAtMs, projectId) => {
        const wide = judged(key, { issuedAtMs, projectId, asOfMs: 10 });
        const narrow = judged({ ...key, ...less }, { issuedAtMs, projectId, asOfMs: 10 });
        expect(narrow.problems).toEqual(expect.arrayContaining(wide.problems));
      },
    );
  });
});
