import { ISSUER, keyId } from '../../make/keys.ts';
import { type Case, refuses, accepts } from './case.ts';

const unknown = 'trust.KEY_UNKNOWN';

export const names = (): Case[] => [
  accepts('usual', {}, 'Usual', 'the key of the issuer by its id'),
  refuses('other-key', { statement: { keyId: keyId('b') } }, 'KeyName', 'another key id', unknown),
  refuses(
    'other-issuer',
    { statement: { issuer: 'https://other.example' } },
    'KeyName',
    'the id of a key that is trusted for another issuer',
    unknown,
  ),
  refuses(
    'issuer-prefix',
    { statement: { issuer: `${ISSUER}.evil.example` } },
    'KeyName',
    'an issuer that begins like a trusted one',
    unknown,
  ),
  refuses(
    'issuer-case',
    { statement: { issuer: ISSUER.toUpperCase() } },
    'KeyName',
    'an issuer in another case',
    unknown,
  ),
  refuses(
    'issuer-solidus',
    { statement: { issuer: `${ISSUER}/` } },
    'KeyName',
    'an issuer with a solidus: names are compared exactly, not as addresses',
    unknown,
  ),
  refuses(
    'issuer-normalization',
    { key: { issuer: 'caf\u00e9' }, statement: { issuer: 'cafe\u0301' } },
    'KeyName',
    'an issuer in another normalization form',
    unknown,
  ),
  refuses(
    'key-proto',
    { statement: { keyId: '__proto__' } },
    'ReservedName',
    'a name that every JavaScript object has',
    unknown,
  ),
  refuses(
    'key-constructor',
    { statement: { issuer: 'constructor', keyId: 'name' } },
    'ReservedName',
    'names that every JavaScript function has',
    unknown,
  ),
  refuses('key-traversal', { statement: { keyId: '../../x' } }, 'KeyName', 'a name that is a path', unknown),
  refuses('key-pattern', { statement: { keyId: '*' } }, 'KeyName', 'a name that is a pattern', unknown),
];

export const purposes = (): Case[] => [
  refuses(
    'purpose-default',
    { statement: { purpose: 'export' } },
    'Purpose',
    'a key without purposes is valid for evidence only',
    'trust.PURPOSE_MISMATCH',
  ),
  refuses(
    'purpose-other',
    { key: { purposes: ['export'] } },
    'Purpose',
    'a key for exports is not valid for evidence',
    'trust.PURPOSE_MISMATCH',
  ),
  accepts(
    'purpose-export',
    { key: { purposes: ['export'] }, statement: { purpose: 'export' } },
    'Purpose',
    'a key for exports',
  ),
  accepts(
    'purpose-several',
    { key: { purposes: ['evidence', 'receipt'] }, statement: { purpose: 'receipt' } },
    'Purpose',
    'a key for several purposes',
  ),
  refuses(
    'purpose-summary',
    { key: { purposes: ['evidence', 'export'] }, statement: { purpose: 'summary' } },
    'Purpose',
    'a purpose that it does not have',
    'trust.PURPOSE_MISMATCH',
  ),
];
