import * as z from 'zod';
import { canonicalBytes } from '../../src/bytes/json-canonical.ts';
import type { Code } from '../../src/codes/index.ts';
import type { RawEntry } from '../../test/zip/raw-zip.ts';
import type { Flag } from '../flags.ts';
import {
  base64Schema,
  digestTextSchema,
  judged,
  judgementSchema,
  type Kind,
  type VectorCase,
} from '../kind.ts';
import { bundle, idOf, PROJECT, T, zipOf, type BundleChoices, type NamedBytes } from '../make/bundle.ts';
import { base64Of, flipped, sha256Of, utf8 } from '../make/bytes.ts';
import { keyId, storeKey, storeText } from '../make/keys.ts';
import type { Patch } from '../make/patch.ts';

export const RESULTS = ['verified', 'intact', 'incomplete', 'failed'] as const;
const inputSchema = z.strictObject({
  zip: base64Schema,
  sha256: digestTextSchema.describe('of the archive, to know that it was decoded right'),
  trust: z.string().optional().describe('the trust store as JSON text; absent when none is given'),
  asOfMs: z.int(),
  expect: z
    .strictObject({
      manifestDigest: digestTextSchema.optional(),
      organizationId: z.string().optional(),
      projectId: z.string().optional(),
    })
    .optional(),
});
const expectedSchema = judgementSchema(RESULTS);
type Input = z.infer<typeof inputSchema>;
type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;
type Result = (typeof RESULTS)[number];

const trusting = (changes: Readonly<Record<string, unknown>> = {}): string =>
  storeText(storeKey('a', changes));

const judge = (
  result: Result,
  id: string,
  zip: Uint8Array,
  input: Partial<Input>,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { zip: base64Of(zip), sha256: sha256Of(zip), trust: trusting(), asOfMs: T, ...input },
  expected: judged(result, codes),
});
const signedZip = (choices: BundleChoices = {}): Uint8Array => bundle(1, { signer: 'a', ...choices }).zip;
const verified = (id: string, choices: BundleChoices, flag: Flag, comment: string, ...codes: Code[]): Case =>
  judge('verified', id, signedZip(choices), {}, codes, flag, comment);
const failed = (id: string, choices: BundleChoices, flag: Flag, comment: string, ...codes: Code[]): Case =>
  judge('failed', id, signedZip(choices), {}, codes, flag, comment);

type Entries = readonly (NamedBytes & Partial<RawEntry>)[];
/** One entry replaced, or taken away. */
const replacing =
  (name: string, change: (one: NamedBytes) => Entries) =>
  (entries: readonly NamedBytes[]): Entries =>
    entries.flatMap((one) => (one.name === name ? change(one) : [one]));
const without = (name: string): BundleChoices => ({ entries: replacing(name, () => []) });
const changing = (name: string, bytes: (before: Uint8Array) => Uint8Array): BundleChoices => ({
  entries: replacing(name, (one) => [{ name, bytes: bytes(one.bytes) }]),
});
const STATE = 'objects/state.json';
const MANIFEST = 'manifest.json';
const ATTESTATION = 'attestation.json';

const sound = (): Case[] => [
  verified('signed', {}, 'Usual', 'signed by a trusted key'),
  judge(
    'intact',
    'no-trust',
    signedZip(),
    { trust: undefined },
    ['trust.STORE_ABSENT'],
    'NoTrust',
    'signed, and no trust store is given',
  ),
  judge(
    'intact',
    'unsigned',
    bundle(1).zip,
    {},
    ['bundle.UNSIGNED'],
    'Unsigned',
    'unsigned, which is at best intact',
  ),
  judge(
    'intact',
    'unsigned-no-trust',
    bundle(1).zip,
    { trust: undefined },
    ['bundle.UNSIGNED'],
    'Unsigned',
    'unsigned, without a trust store',
  ),
  judge(
    'intact',
    'attestation-removed',
    signedZip(without(ATTESTATION)),
    {},
    ['bundle.UNSIGNED'],
    'Unsigned',
    'the attestation taken away: no trace is left in the bundle, only in the export that lists it as signed',
  ),
  judge(
    'intact',
    'no-objects',
    bundle(1, { manifest: { '/objects': [] }, entries: (all) => all.slice(0, 1) }).zip,
    {},
    ['bundle.UNSIGNED'],
    'Unsigned',
    'no object',
  ),
  verified(
    'rerun',
    {
      manifest: { '/rerunOfHostedRunId': idOf('hrun', 9) },
      statement: { '/subject/reproduction/originalTrial': 2 },
    },
    'Rerun',
    'a rerun keeps the counters of the run that it reproduces',
  ),
  verified(
    'no-optional',
    {
      runResult: { '/identity/scenarioId': undefined, '/identity/setupHash': undefined },
      statement: {
        '/subject/reproduction/scenarioId': undefined,
        '/subject/reproduction/setupHash': undefined,
      },
    },
    'Binding',
    'optional fields that are absent on both sides',
  ),
  verified(
    'drill-failed',
    { runResult: { '/verdict': 'failed' } },
    'Usual',
    'a drill that failed is evidence like one that passed',
  ),
  verified(
    'order',
    { entries: (all) => all.toReversed() },
    'UnusualOrder',
    'entries in another order',
    'zip.ORDER_UNUSUAL',
  ),
  verified(
    'metadata',
    { entries: replacing(STATE, (one) => [{ ...one, both: { time: 1, date: 0x5c75 } }]) },
    'UnusualMetadata',
    'an entry with another time',
    'zip.METADATA_UNUSUAL',
  ),
  judge(
    'verified',
    'retired-key',
    signedZip(),
    { trust: trusting({ notAfterMs: T }), asOfMs: T + 1 },
    ['attestation.TIME_CLAIMED'],
    'ClaimedTime',
    'signed by a key that has ended since',
  ),
  judge(
    'verified',
    'limited-key',
    signedZip(),
    { trust: trusting({ projects: [PROJECT] }) },
    [],
    'Scope',
    'a key for this project: the manifest says which it is',
  ),
];

const objects = (): Case[] => [
  failed(
    'object-bit',
    changing(STATE, (bytes) => flipped(bytes, 1)),
    'ModifiedContent',
    'a bit of an object changed, the CRC made right',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'object-cut',
    changing(STATE, (bytes) => bytes.subarray(0, -1)),
    'ModifiedContent',
    'an object without its last byte',
    'object.BYTES_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'object-longer',
    changing(STATE, (bytes) => Uint8Array.of(...bytes, 10)),
    'ModifiedContent',
    'an object with a line feed more',
    'object.BYTES_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'object-crc',
    { entries: replacing(STATE, (one) => [{ ...one, data: flipped(one.bytes, 1) }]) },
    'ModifiedContent',
    'a bit of an object changed, the CRC left alone',
    'zip.CRC_MISMATCH',
  ),
  failed(
    'object-missing',
    without(STATE),
    'MissingFile',
    'an object that is listed and not there',
    'object.MISSING',
  ),
  failed(
    'object-extra',
    { entries: (all) => [...all, { name: 'objects/zzz.txt', bytes: utf8('x') }] },
    'ExtraFile',
    'an object that is there and not listed',
    'object.EXTRA',
  ),
  failed(
    'file-extra',
    { entries: (all) => [...all, { name: 'README', bytes: utf8('x') }] },
    'ExtraFile',
    'a file beside the objects',
    'object.EXTRA',
  ),
  failed(
    'object-renamed',
    { entries: replacing(STATE, (one) => [{ ...one, name: 'objects/state.txt' }]) },
    'ExtraFile',
    'an object under another name',
    'object.EXTRA',
    'object.MISSING',
    'zip.ORDER_UNUSUAL',
  ),
  failed(
    'object-case',
    { entries: replacing(STATE, (one) => [{ ...one, name: 'objects/State.json' }]) },
    'LetterCase',
    'an object whose name differs in case',
    'object.EXTRA',
    'object.MISSING',
    'zip.ORDER_UNUSUAL',
  ),
  failed(
    'objects-swapped',
    { entries: (all) => all.map((one) => ({ ...one, bytes: swapped(all, one) })) },
    'ModifiedContent',
    'two objects exchanged',
    'object.BYTES_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'run-result-changed',
    changing('objects/run-result.json', (bytes) =>
      utf8(new TextDecoder().decode(bytes).replace('passed', 'failed')),
    ),
    'ModifiedContent',
    'the verdict of the drill changed in the run result',
    'object.DIGEST_MISMATCH',
  ),
];

function swapped(all: readonly NamedBytes[], one: NamedBytes): Uint8Array {
  const other = one.name === STATE ? 'objects/log.txt' : one.name === 'objects/log.txt' ? STATE : one.name;
  return all.find(({ name }) => name === other)?.bytes ?? one.bytes;
}

const manifests = (): Case[] => [
  failed('manifest-missing', without(MANIFEST), 'MissingFile', 'no manifest', 'bundle.MANIFEST_MISSING'),
  failed(
    'manifest-formatted',
    changing(MANIFEST, (bytes) => utf8(`${new TextDecoder().decode(bytes)}\n`)),
    'NotCanonical',
    'a line feed after the manifest',
    'json.NOT_CANONICAL',
  ),
  failed(
    'manifest-invalid',
    { manifest: { '/projectId': 'x' } },
    'Structure',
    'a manifest that breaks its format',
    'bundle.MANIFEST_INVALID',
  ),
  failed(
    'manifest-replaced',
    changing(MANIFEST, () => canonicalBytes(bundle(1, { manifest: { '/createdAtMs': T } }).manifest)),
    'WrongSubject',
    'another manifest beside the attestation',
    'attestation.SUBJECT_MISMATCH',
  ),
  failed(
    'manifest-of-other',
    changing(MANIFEST, () => bundle(2).manifestBytes),
    'WrongSubject',
    'the manifest of another bundle',
    'attestation.SUBJECT_MISMATCH',
    'object.DIGEST_MISMATCH',
  ),
  failed(
    'role-missing',
    { manifest: { '/objects/3/role': undefined } },
    'Role',
    'a signed bundle without an object of role state',
    'bundle.BINDING_MISMATCH',
    'bundle.MANIFEST_INVALID',
  ),
  failed(
    'run-result-not-canonical',
    runResultBytes((text) => `${text}\n`),
    'NotCanonical',
    'a run result with a line feed after it',
    'json.NOT_CANONICAL',
  ),
  failed(
    'run-result-invalid',
    { runResult: { '/status': undefined } },
    'Structure',
    'a run result without its status',
    'bundle.RUN_RESULT_INVALID',
  ),
  failed(
    'run-result-extra',
    { runResult: { '/comment': 'x' } },
    'UnknownMember',
    'a run result with a member that nobody knows',
    'bundle.RUN_RESULT_INVALID',
  ),
  judge(
    'failed',
    'run-result-unsigned',
    bundle(1, { runResult: { '/identity': null } }).zip,
    {},
    ['bundle.RUN_RESULT_INVALID', 'bundle.UNSIGNED'],
    'WrongType',
    'a run result without identity in an unsigned bundle',
  ),
];

/** Other bytes of the run result, which manifest and statement name as they are. */
function runResultBytes(change: (text: string) => string): BundleChoices {
  const bytes = utf8(change(new TextDecoder().decode(bundle(1).runResult)));
  const digest = sha256Of(bytes);
  return {
    manifest: { '/objects/2/digest': digest, '/objects/2/bytes': bytes.length },
    statement: { '/subject/runResultHash': digest },
    ...changing('objects/run-result.json', () => bytes),
  };
}

const bindings = (): Case[] => {
  const no = 'bundle.BINDING_MISMATCH';
  const bound = (id: string, statement: Patch, comment: string): Case =>
    failed(`binding-${id}`, { statement }, 'Binding', comment, no);
  const field = (name: string): string => `/subject/reproduction/${name}`;
  return [
    bound('state', { '/subject/stateHash': sha256Of('x') }, 'another state was signed'),
    bound('evidence', { '/subject/evidenceHash': sha256Of('x') }, 'another journal was signed'),
    bound('trajectory', { '/subject/trajectoryHash': sha256Of('x') }, 'another trajectory was signed'),
    bound('run-result', { '/subject/runResultHash': sha256Of('x') }, 'another run result was signed'),
    bound('run', { '/subject/runId': 'run_another1' }, 'another run was signed'),
    bound('drill', { [field('drillId')]: 'another' }, 'another drill was signed'),
    bound('target', { [field('targetId')]: 'another' }, 'another target was signed'),
    bound('build', { [field('buildHash')]: sha256Of('x') }, 'another build was signed'),
    bound('lock', { [field('packageLockHash')]: sha256Of('x') }, 'another lock was signed'),
    bound('seed', { [field('seed')]: '8' }, 'another seed was signed'),
    bound('trial', { [field('originalTrial')]: 2 }, 'another trial was signed'),
    bound('attempt-limit', { [field('originalAttemptLimit')]: 3 }, 'another limit of attempts was signed'),
    bound('scenario', { [field('scenarioId')]: 'another' }, 'another scenario was signed'),
    bound('no-scenario', { [field('scenarioId')]: undefined }, 'no scenario was signed, and the run had one'),
    bound('setup', { [field('setupHash')]: sha256Of('x') }, 'another setup was signed'),
    failed(
      'binding-result-state',
      { runResult: { '/stateHash': sha256Of('x') } },
      'Binding',
      'the run result names another state than the manifest',
      no,
    ),
    failed(
      'binding-result-run',
      { runResult: { '/identity/runId': 'run_another1' } },
      'Binding',
      'the run result is of another run',
      no,
    ),
    failed(
      'binding-rerun-seed',
      { manifest: { '/rerunOfHostedRunId': idOf('hrun', 9) }, statement: { [field('seed')]: '8' } },
      'Rerun',
      'a rerun with another seed',
      no,
    ),
    failed(
      'subject',
      { statement: { '/subject/manifestDigest': sha256Of('x') } },
      'WrongSubject',
      'another manifest was signed',
      'attestation.SUBJECT_MISMATCH',
    ),
  ];
};

const attested = (): Case[] => [
  failed(
    'attestation-of-other',
    {
      entries: replacing(ATTESTATION, () => [
        { name: ATTESTATION, bytes: canonicalBytes(bundle(2, { signer: 'a' }).attestation) },
      ]),
    },
    'WrongSubject',
    'the attestation of another bundle',
    'attestation.SUBJECT_MISMATCH',
    'bundle.BINDING_MISMATCH',
  ),
  failed(
    'attestation-changed',
    { attestation: { '/statement/issuedAtMs': T - 1 } },
    'ModifiedMessage',
    'the statement changed after signing',
    'attestation.SIGNATURE_INVALID',
  ),
  failed(
    'attestation-encoding',
    { attestation: { '/signature': 'AA==' } },
    'Padding',
    'a signature with padding',
    'attestation.SIGNATURE_ENCODING',
  ),
  failed(
    'attestation-invalid',
    { attestation: { '/algorithm': 'none' } },
    'WrongAlgorithm',
    'no algorithm',
    'attestation.INVALID',
  ),
  failed(
    'attestation-formatted',
    changing(ATTESTATION, (bytes) => utf8(` ${new TextDecoder().decode(bytes)}`)),
    'NotCanonical',
    'a space before the attestation',
    'json.NOT_CANONICAL',
  ),
  failed(
    'attestation-empty',
    changing(ATTESTATION, () => utf8('')),
    'Structure',
    'an attestation of no bytes',
    'json.INVALID',
  ),
  failed(
    'attestation-type',
    { statement: { '/predicateType': 'urn:drillproof:attestation:export:v1' } },
    'WrongType',
    'a statement that calls itself one about an export',
    'attestation.PREDICATE_UNSUPPORTED',
  ),
  failed(
    'attestation-key',
    { statement: { '/keyId': keyId('b') } },
    'KeyName',
    'the name of another key',
    'trust.KEY_UNKNOWN',
  ),
  judge(
    'failed',
    'unknown-key',
    bundle(1, { signer: 'b' }).zip,
    {},
    ['trust.KEY_UNKNOWN'],
    'KeyName',
    'signed by a key that nobody trusts',
  ),
  judge(
    'failed',
    'revoked-key',
    signedZip(),
    { trust: trusting({ revokedAtMs: T + 1 }) },
    ['trust.KEY_REVOKED'],
    'Revocation',
    'signed by a key that was compromised later',
  ),
  judge(
    'failed',
    'other-project-key',
    signedZip(),
    { trust: trusting({ projects: [idOf('prj', 2)] }) },
    ['trust.PROJECT_MISMATCH'],
    'Scope',
    'signed by a key for another project',
  ),
  judge(
    'failed',
    'future',
    signedZip(),
    { asOfMs: T - 1 },
    ['attestation.ISSUED_IN_FUTURE'],
    'Time',
    'signed one millisecond after the verification',
  ),
  judge(
    'failed',
    'unbound-no-trust',
    signedZip({ statement: { '/subject/stateHash': sha256Of('x') } }),
    { trust: undefined },
    ['bundle.BINDING_MISMATCH', 'trust.STORE_ABSENT'],
    'Binding',
    'what is signed is bound also where nobody judges the signature',
  ),
];

const archives = (): Case[] => [
  judge('failed', 'zip-not', utf8('no archive'), {}, ['zip.NOT_A_ZIP'], 'Structure', 'no archive at all'),
  judge(
    'failed',
    'zip-cut',
    signedZip().subarray(0, -7),
    {},
    ['zip.NOT_A_ZIP'],
    'Truncated',
    'an archive that is cut',
  ),
  judge(
    'failed',
    'zip-comment-byte',
    Uint8Array.of(...signedZip(), 0),
    {},
    ['zip.BYTES_UNACCOUNTED'],
    'HiddenBytes',
    'a byte after the archive',
  ),
  judge(
    'failed',
    'zip-empty',
    zipOf([]),
    {},
    ['bundle.MANIFEST_MISSING'],
    'MissingFile',
    'an archive without entries',
  ),
  failed(
    'zip-manifest-twice',
    { entries: (all) => [...all, { name: MANIFEST, bytes: bundle(2).manifestBytes }] },
    'DuplicateEntry',
    'two manifests',
    'zip.ENTRY_DUPLICATE',
  ),
  failed(
    'zip-link',
    { entries: replacing(STATE, (one) => [{ ...one, central: { external: 0o120777 * 65536 } }]) },
    'EntryKind',
    'an object that is a symbolic link',
    'zip.ENTRY_KIND',
  ),
];

const expectations = (): Case[] => {
  const expecting = (
    result: Result,
    id: string,
    expect: NonNullable<Input['expect']>,
    codes: readonly Code[],
    comment: string,
  ): Case => judge(result, `expect-${id}`, signedZip(), { expect }, codes, 'Expectation', comment);
  return [
    expecting(
      'verified',
      'manifest',
      { manifestDigest: sha256Of(bundle(1).manifestBytes) },
      [],
      'the manifest that the caller expects',
    ),
    expecting(
      'failed',
      'other-manifest',
      { manifestDigest: sha256Of('x') },
      ['expect.MANIFEST_MISMATCH'],
      'another manifest than the caller expects',
    ),
    expecting(
      'failed',
      'other-organization',
      { organizationId: idOf('org', 2) },
      ['expect.ORGANIZATION_MISMATCH'],
      'another organization than the caller expects',
    ),
    expecting(
      'failed',
      'other-project',
      { projectId: idOf('prj', 2) },
      ['expect.PROJECT_MISMATCH'],
      'another project than the caller expects',
    ),
  ];
};

export const bundles: Kind<Input, Case['expected']> = {
  name: 'bundles',
  about: 'a part archive by itself, a trust store and a time, and the verdict',
  clause: 'formats §1, §2, §3, §4',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...objects(),
    ...manifests(),
    ...bindings(),
    ...attested(),
    ...archives(),
    ...expectations(),
  ],
};
