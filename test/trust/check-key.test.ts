import { expect, it } from 'vitest';
import { checkKey, type SignedStatement } from '../../src/trust/check-key.ts';
import { trustStore } from '../../src/trust/store.ts';
import type { TrustedKey } from '../../src/trust/trusted-key.ts';
import { trusted } from './makers.ts';

const NOW = 1_800_000_000_000;
const statement = (changes: Partial<SignedStatement> = {}): SignedStatement => ({
  issuer: 'acme',
  keyId: trusted(1).keyId,
  issuedAtMs: NOW - 1000,
  purpose: 'evidence',
  projectId: 'prj_a',
  organizationId: 'org_a',
  asOfMs: NOW,
  ...changes,
});

it('the key of a statement has its issuer and its key id, and is returned', () => {
  const { key, problems } = checkKey(trustStore([trusted(1), trusted(2)]), statement());
  expect([key, problems]).toEqual([trusted(1), []]);
});

it('an unknown key id and one that is trusted for another issuer have different messages, with escaped names', () => {
  const [unknown] = checkKey(trustStore([trusted(1)]), statement({ keyId: 'a\n\u001b[2J' })).problems;
  const [elsewhere] = checkKey(trustStore([trusted(1)]), statement({ issuer: 'other' })).problems;
  expect(unknown?.actual).toBe('key "a\\n\\u001b[2J" of issuer "acme"');
  expect(elsewhere?.message).not.toBe(unknown?.message);
});

it('the revocation of a key without a compromise does not affect another name of it', () => {
  const store = trustStore([
    trusted(1, { revokedAtMs: 0, compromised: false }),
    trusted(1, { keyId: 'new' }),
  ]);
  expect(checkKey(store, statement({ keyId: 'new' })).problems).toEqual([]);
});

it.each([
  ['key id', { keyId: 'new' }],
  ['issuer', { issuer: 'other' }],
])('a compromised key is valid under no other %s, and the problem names the listed one', (_, name) => {
  const store = trustStore([trusted(1, { revokedAtMs: NOW + 1 }), trusted(1, name), trusted(2)]);
  const { problems } = checkKey(store, statement(name));
  expect(problems.map(({ code }) => code)).toEqual(['trust.KEY_REVOKED']);
  expect(problems[0]?.message).toContain(`listed as key "${trusted(1).keyId}" of issuer "acme"`);
  expect(checkKey(store, statement({ keyId: trusted(2).keyId })).problems).toEqual([]);
});

it.each<[string, Partial<TrustedKey>, string[]]>([
  [
    'every reason, in one order',
    {
      purposes: ['export'],
      projects: ['prj_b'],
      organizations: ['org_b'],
      notAfterMs: 0,
      revokedAtMs: 0,
    },
    [
      'trust.PURPOSE_MISMATCH',
      'trust.PROJECT_MISMATCH',
      'trust.ORGANIZATION_MISMATCH',
      'trust.KEY_EXPIRED',
      'trust.KEY_REVOKED',
    ],
  ],
  ['a time outside the calendar', { notAfterMs: -Number.MAX_SAFE_INTEGER }, ['trust.KEY_EXPIRED']],
])('the problems of a key include %s', (_, key, codes) => {
  const { problems } = checkKey(trustStore([trusted(1, key)]), statement());
  expect(problems.map(({ code }) => code)).toEqual(codes);
});
