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

it.each<[string, string, string]>([
  [
    'a letter of another script',
    'https://issuer.ex\u0430mple',
    ' (only the actual name has U+0430 "\u0430")',
  ],
  ['an accent', 'acm\u00e9', ' (only the actual name has U+00E9 "\u00e9")'],
  ['another case', 'Acme', ''],
])('a wrong issuer that differs in %s shows both names, and marks the letter', (_what, issuer, marks) => {
  const store = trustStore([
    trusted(1, {
      issuer: issuer
        .normalize('NFD')
        .replace(/\u0430/g, 'a')
        .replace(/\u0301/g, ''),
    }),
  ]);
  const [problem] = checkKey(store, statement({ issuer: issuer === 'Acme' ? 'acme' : issuer })).problems;
  expect(problem?.code).toBe('trust.KEY_UNKNOWN');
  expect(problem?.expected).toContain(`of issuer ${JSON.stringify(store.keys[0]!.issuer)}`);
  expect(problem?.message).toBe(`the key id is trusted for another issuer only${marks}`);
});

it('an unknown key shows the trusted keys of its issuer, at most three and how many more', () => {
  const keys = [1, 2, 3, 4, 5].map((seed) => trusted(seed));
  const [problem] = checkKey(
    trustStore([...keys, trusted(6, { issuer: 'other' })]),
    statement({ keyId: 'x' }),
  ).problems;
  expect(problem?.expected).toMatch(
    /^key "\S+" of issuer "acme"(, key "\S+" of issuer "acme"){2} and 2 more$/,
  );
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
