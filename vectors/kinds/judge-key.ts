import * as z from 'zod';
import type { Code } from '../../src/codes/index.ts';
import type { Flag } from '../flags.ts';
import { codeSchema, sortedCodes, type Kind, type VectorCase } from '../kind.ts';
import { ISSUER, keyId, storeKey, storeText } from '../make/keys.ts';

const inputSchema = z.strictObject({
  trust: z.string().describe('the trust store, as JSON text'),
  statement: z.strictObject({
    issuer: z.string(),
    keyId: z.string(),
    issuedAtMs: z.int(),
    purpose: z.enum(['evidence', 'export', 'summary', 'receipt']),
    projectId: z.string().optional().describe('absent when it is not known'),
    organizationId: z.string().optional().describe('absent when it is not known'),
    asOfMs: z.int().optional().describe('the time of the verification'),
  }),
});
const expectedSchema = z.strictObject({
  verdict: z
    .enum(['valid', 'invalid'])
    .describe('whether a key speaks for the statement, apart from what is unchecked'),
  codes: z.array(codeSchema).describe('every reason against it and every note, sorted'),
  unchecked: z.array(z.enum(['project', 'organization'])),
});
type Input = z.infer<typeof inputSchema>;
type Expected = z.infer<typeof expectedSchema>;
type Case = VectorCase<Input, Expected>;
type Changes = Readonly<Record<string, unknown>>;

const T = 1_767_225_600_000;
const PROJECT = 'prj_000000000001';
const ORGANIZATION = 'org_000000000001';

type Setting = {
  readonly key?: Changes;
  readonly statement?: Partial<Input['statement']>;
  readonly unchecked?: Expected['unchecked'];
};

const caseOf = (
  verdict: Expected['verdict'],
  id: string,
  { key, statement, unchecked = [] }: Setting,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: {
    trust: storeText(storeKey('a', key)),
    statement: {
      issuer: ISSUER,
      keyId: keyId('a'),
      issuedAtMs: T,
      purpose: 'evidence',
      asOfMs: T,
      ...statement,
    },
  },
  expected: { verdict, codes: sortedCodes(codes), unchecked },
});
const speaks = (id: string, setting: Setting, flag: Flag, comment: string, ...notes: Code[]): Case =>
  caseOf('valid', id, setting, notes, flag, comment);
const refuses = (id: string, setting: Setting, flag: Flag, comment: string, ...codes: Code[]): Case =>
  caseOf('invalid', id, setting, codes, flag, comment);

const unknown = 'trust.KEY_UNKNOWN';
const names = (): Case[] => [
  speaks('usual', {}, 'Usual', 'the key of the issuer by its id'),
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

const purposes = (): Case[] => [
  refuses(
    'purpose-default',
    { statement: { purpose: 'export' } },
    'Purpose',
    'a key without purposes speaks for evidence only',
    'trust.PURPOSE_MISMATCH',
  ),
  refuses(
    'purpose-other',
    { key: { purposes: ['export'] } },
    'Purpose',
    'a key for exports does not speak for evidence',
    'trust.PURPOSE_MISMATCH',
  ),
  speaks(
    'purpose-export',
    { key: { purposes: ['export'] }, statement: { purpose: 'export' } },
    'Purpose',
    'a key for exports',
  ),
  speaks(
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

const scopes = (): Case[] => {
  const [projects, organizations] = [[PROJECT], [ORGANIZATION]];
  const foreign = { projectId: 'prj_000000000002', organizationId: 'org_000000000002' };
  return [
    speaks(
      'project',
      { key: { projects }, statement: { projectId: PROJECT } },
      'Scope',
      'the project of the key',
    ),
    refuses(
      'project-other',
      { key: { projects }, statement: foreign },
      'Scope',
      'another project',
      'trust.PROJECT_MISMATCH',
    ),
    speaks(
      'project-several',
      { key: { projects: [PROJECT, 'prj_000000000002'] }, statement: foreign },
      'Scope',
      'one of several projects',
    ),
    speaks('project-any', { statement: foreign }, 'Scope', 'a key without limits'),
    refuses(
      'project-prefix',
      { key: { projects }, statement: { projectId: `${PROJECT}0` } },
      'Scope',
      'a project that begins like it',
      'trust.PROJECT_MISMATCH',
    ),
    speaks(
      'project-unknown',
      { key: { projects }, unchecked: ['project'] },
      'Scope',
      'nothing says to which project the evidence belongs: not passed, and not failed',
    ),
    speaks(
      'organization',
      { key: { organizations }, statement: { organizationId: ORGANIZATION } },
      'Scope',
      'the organization of the key',
    ),
    refuses(
      'organization-other',
      { key: { organizations }, statement: foreign },
      'Scope',
      'another organization',
      'trust.ORGANIZATION_MISMATCH',
    ),
    speaks(
      'organization-unknown',
      { key: { organizations }, unchecked: ['organization'] },
      'Scope',
      'nothing says to which organization the evidence belongs',
    ),
    speaks(
      'both-unknown',
      { key: { projects, organizations }, unchecked: ['project', 'organization'] },
      'Scope',
      'neither is known',
    ),
    refuses(
      'both-other',
      { key: { projects, organizations }, statement: foreign },
      'Scope',
      'both are others',
      'trust.ORGANIZATION_MISMATCH',
      'trust.PROJECT_MISMATCH',
    ),
    refuses(
      'organization-as-project',
      { key: { projects: [ORGANIZATION] }, statement: { projectId: PROJECT, organizationId: ORGANIZATION } },
      'Scope',
      'an organization in the list of projects',
      'trust.PROJECT_MISMATCH',
    ),
  ];
};

const claimed = 'attestation.TIME_CLAIMED';
const windows = (): Case[] => [
  speaks('not-before-at', { key: { notBeforeMs: T } }, 'KeyWindow', 'issued in the first millisecond'),
  refuses(
    'not-before-early',
    { key: { notBeforeMs: T + 1 } },
    'KeyWindow',
    'issued one millisecond before',
    'trust.KEY_NOT_YET_VALID',
  ),
  speaks(
    'not-after-at',
    { key: { notAfterMs: T } },
    'KeyWindow',
    'issued in the last millisecond, verified in it',
  ),
  refuses(
    'not-after-late',
    { key: { notAfterMs: T - 1 } },
    'KeyWindow',
    'issued one millisecond after',
    'trust.KEY_EXPIRED',
  ),
  speaks(
    'one-millisecond',
    { key: { notBeforeMs: T, notAfterMs: T } },
    'KeyWindow',
    'a window of one millisecond',
  ),
  speaks(
    'retired',
    { key: { notAfterMs: T }, statement: { asOfMs: T + 1 } },
    'ClaimedTime',
    'the key is past its end when it is verified: only the signer says that it was not',
    claimed,
  ),
  speaks(
    'retired-unknown-time',
    { key: { notAfterMs: T + 1000 }, statement: { asOfMs: undefined } },
    'ClaimedTime',
    'without a time of verification a key with an end counts as retired',
    claimed,
  ),
  refuses(
    'expired-now',
    { key: { notAfterMs: T - 1 }, statement: { asOfMs: T + 5 } },
    'KeyWindow',
    'no note where the key does not speak',
    'trust.KEY_EXPIRED',
  ),
  speaks(
    'zero',
    { key: { notBeforeMs: 0 }, statement: { issuedAtMs: 0, asOfMs: 0 } },
    'KeyWindow',
    'time zero is a time',
  ),
  refuses(
    'before-zero',
    { key: { notBeforeMs: 0 }, statement: { issuedAtMs: -1 } },
    'KeyWindow',
    'a time before 1970',
    'trust.KEY_NOT_YET_VALID',
  ),
  speaks(
    'future',
    { statement: { issuedAtMs: T + 1 } },
    'KeyWindow',
    'a statement from the future is wrong whoever signed it: the key is not to blame',
  ),
];

const revocations = (): Case[] => [
  refuses(
    'revoked',
    { key: { revokedAtMs: T } },
    'Revocation',
    'revoked, and compromised unless told otherwise',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'revoked-later',
    { key: { revokedAtMs: T + 1000 } },
    'Revocation',
    'a compromised key takes older statements with it',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'revoked-in-future',
    { key: { revokedAtMs: T + 1000 }, statement: { asOfMs: T } },
    'Revocation',
    'also before the time of its revocation',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'retracted-at',
    { key: { revokedAtMs: T, compromised: false } },
    'Revocation',
    'issued in the millisecond of the revocation',
    'trust.KEY_REVOKED',
  ),
  speaks(
    'retracted-before',
    { key: { revokedAtMs: T + 1, compromised: false } },
    'Revocation',
    'issued one millisecond before it',
    claimed,
  ),
  refuses(
    'retracted-after',
    { key: { revokedAtMs: T - 1, compromised: false } },
    'Revocation',
    'issued one millisecond after it',
    'trust.KEY_REVOKED',
  ),
  refuses(
    'revoked-and-expired',
    { key: { revokedAtMs: T, notAfterMs: T - 1 } },
    'Revocation',
    'every reason is told',
    'trust.KEY_EXPIRED',
    'trust.KEY_REVOKED',
  ),
];

const certificates = (): Case[] => [
  speaks(
    'certificate',
    { key: { fromCertificate: true } },
    'Certificate',
    'a key from a certificate, whose chain nobody checked',
    'trust.CHAIN_NOT_CHECKED',
  ),
  refuses(
    'certificate-expired',
    { key: { fromCertificate: true, notAfterMs: T - 1 } },
    'Certificate',
    'one that has ended',
    'trust.CHAIN_NOT_CHECKED',
    'trust.KEY_EXPIRED',
  ),
];

export const judgeKeys: Kind<Input, Expected> = {
  name: 'judge-key',
  about: 'a trust store and what a statement says of itself, and whether a key speaks for it',
  clause: 'formats §3',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...names(), ...purposes(), ...scopes(), ...windows(), ...revocations(), ...certificates()],
};
