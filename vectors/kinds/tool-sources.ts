import * as z from 'zod/mini';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import type { JsonObject } from '../../src/bytes/json/parse.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import type { Flag } from '../flags.ts';
import { judged, judgementSchema, type Kind, type VectorCase } from '../kind.ts';
import { ORGANIZATION, PROJECT } from '../make/bundle.ts';
import { sha256Of } from '../make/bytes.ts';
import { patched, type Patch } from '../make/patch.ts';

const RESULTS = ['verified', 'intact', 'failed'] as const;
const inputSchema = z.strictObject({
  resource: z.string().check(z.describe('the tool source resource as JSON text, read by any parser')),
  repeatedSource: z
    .optional(z.strictObject({ text: z.string(), times: z.int() }))
    .check(z.describe('when it is there, implementation.source is this text so many times')),
  lock: z.optional(z.string()).check(z.describe('build.json as text, which the caller trusts')),
  expect: z
    .optional(z.strictObject({ buildHash: z.string(), packageId: z.string() }))
    .check(z.describe('the build and package that the caller asked for')),
});
const expectedSchema = judgementSchema(RESULTS);
type Input = z.infer<typeof inputSchema>;
type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

const SOURCE = 'export const tool = () => "päckage 📦";\n';
const LIMIT = 1_048_576;
const UI: JsonObject = {
  entry: 'ui/index.html',
  assets: [{ path: 'ui/index.html', mediaType: 'text/html', artifactHash: sha256Of('<p>'), bytes: 3 }],
};
const locked: JsonObject = {
  packageId: 'zip-reader',
  version: '1.2.3',
  manifestHash: sha256Of('manifest'),
  artifactHash: sha256Of(SOURCE),
  manifest: 'zip-reader/package.json',
  source: 'zip-reader/tool.js',
  ui: UI,
};
const lock: JsonObject = {
  schemaVersion: 1,
  kind: 'build',
  packages: [{ ...locked, packageId: 'another', ui: UI }, locked],
};
const lockText = canonicalJson(lock);

const resource: JsonObject = {
  schemaVersion: 1,
  organizationId: ORGANIZATION,
  projectId: PROJECT,
  buildHash: sha256Of(lockText),
  packageId: 'zip-reader',
  version: '1.2.3',
  manifestHash: sha256Of('manifest'),
  artifactHash: sha256Of(SOURCE),
  implementation: { kind: 'javascript', source: SOURCE, bytes: Buffer.byteLength(SOURCE) },
  ui: UI,
};

const judge = (
  result: (typeof RESULTS)[number],
  id: string,
  input: Partial<Input>,
  codes: readonly Code[],
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { resource: JSON.stringify(resource), ...input },
  expected: judged(result, codes),
});
const text = (patch: Patch): string => JSON.stringify(patched(resource, patch));
const failed = (id: string, patch: Patch, code: Code, flag: Flag, comment: string): Case =>
  judge('failed', id, { resource: text(patch) }, [code], flag, comment);
const unlocked = (
  id: string,
  patch: Patch,
  flag: Flag,
  comment: string,
  code: Code = 'tool-source.LOCK_MISMATCH',
): Case => judge('failed', `lock-${id}`, { resource: text(patch), lock: lockText }, [code], flag, comment);
const asked = (
  result: 'verified' | 'failed',
  id: string,
  other: Partial<NonNullable<Input['expect']>>,
  comment: string,
): Case => {
  const expected = { buildHash: sha256Of(lockText), packageId: 'zip-reader', ...other };
  const codes: readonly Code[] = result === 'failed' ? ['tool-source.SUBJECT_MISMATCH'] : [];
  return judge(result, id, { lock: lockText, expect: expected }, codes, 'LockBinding', comment);
};
const badLock = (id: string, value: string, flag: Flag, comment: string): Case =>
  judge(
    'failed',
    `lock-${id}`,
    { resource: text({ '/buildHash': sha256Of(value) }), lock: value },
    ['tool-source.LOCK_INVALID'],
    flag,
    comment,
  );

const withSource = (source: string): Patch => ({
  '/implementation/source': source,
  '/implementation/bytes': Buffer.byteLength(source),
  '/artifactHash': sha256Of(source),
});

const repeated = (times: number): Partial<Input> => {
  const source = 'é'.repeat(times);
  const patch: Patch = {
    '/implementation/source': '',
    '/implementation/bytes': Buffer.byteLength(source),
    '/artifactHash': sha256Of(source),
  };
  return { resource: text(patch), repeatedSource: { text: 'é', times } };
};

const sound = (): Case[] => [
  judge('verified', 'locked', { lock: lockText }, [], 'Usual', 'a source that the lock names'),
  asked('verified', 'expected', {}, 'the build and package that the caller asked for'),
  asked('failed', 'expected-package', { packageId: 'another' }, 'a package other than the one asked for'),
  asked('failed', 'expected-build', { buildHash: sha256Of('x') }, 'a build other than the one asked for'),
  judge('intact', 'alone', {}, [], 'Usual', 'a source without a lock'),
  judge('intact', 'empty', { resource: text(withSource('')) }, [], 'Usual', 'no source at all'),
  judge('intact', 'no-ui', { resource: text({ '/ui': undefined }) }, [], 'Usual', 'no user interface'),
  judge(
    'intact',
    'crlf',
    { resource: text(withSource('a\r\nb\u0000\u2028')) },
    [],
    'TextBytes',
    'line ends and control characters are bytes like others',
  ),
  judge(
    'intact',
    'bom',
    { resource: text(withSource('\ufeffa')) },
    [],
    'TextBytes',
    'a byte order mark belongs to the source',
  ),
  judge('intact', 'at-limit', repeated(LIMIT / 2), [], 'Size', '1 MiB of UTF-8'),
  judge(
    'failed',
    'above-limit',
    repeated(LIMIT / 2 + 1),
    ['tool-source.TOO_LARGE'],
    'Size',
    'two bytes more, in half as many characters',
  ),
];

const changed = (): Case[] => [
  failed(
    'source-changed',
    { '/implementation/source': SOURCE.replace('tool', 'loot') },
    'tool-source.DIGEST_MISMATCH',
    'ModifiedContent',
    'another source of the same size',
  ),
  judge(
    'failed',
    'source-cut',
    { resource: text({ '/implementation/source': SOURCE.trimEnd() }) },
    ['tool-source.BYTES_MISMATCH', 'tool-source.DIGEST_MISMATCH'],
    'ModifiedContent',
    'without its last line feed',
  ),
  judge(
    'failed',
    'source-crlf',
    { resource: text({ '/implementation/source': SOURCE.replace('\n', '\r\n') }) },
    ['tool-source.BYTES_MISMATCH', 'tool-source.DIGEST_MISMATCH'],
    'TextBytes',
    'a line end that was converted',
  ),
  judge(
    'failed',
    'source-normalized',
    { resource: text({ '/implementation/source': SOURCE.normalize('NFD') }) },
    ['tool-source.BYTES_MISMATCH', 'tool-source.DIGEST_MISMATCH'],
    'TextBytes',
    'another normalization form',
  ),
  failed(
    'bytes-characters',
    { '/implementation/bytes': SOURCE.length },
    'tool-source.BYTES_MISMATCH',
    'TextBytes',
    'UTF-16 code units counted in place of bytes',
  ),
  failed(
    'digest',
    { '/artifactHash': sha256Of('x') },
    'tool-source.DIGEST_MISMATCH',
    'ModifiedContent',
    'another digest',
  ),
  failed(
    'surrogate',
    { '/implementation/source': '\ud800' },
    'json.SURROGATE_LONE',
    'LoneSurrogate',
    'half a surrogate pair, whose bytes are undefined',
  ),
];

const shapes = (): Case[] => {
  const no = 'tool-source.INVALID';
  return [
    judge(
      'failed',
      'member-twice',
      { resource: text({}).replace('{', '{"schemaVersion":1,') },
      ['json.MEMBER_DUPLICATE'],
      'DuplicateMember',
      'a member that appears twice with equal values',
    ),
    failed('version', { '/schemaVersion': 2 }, no, 'UnknownValue', 'another version'),
    failed('kind', { '/implementation/kind': 'wasm' }, no, 'UnknownValue', 'another kind of implementation'),
    failed('extra', { '/url': 'x' }, no, 'UnknownMember', 'an unknown member'),
    failed('no-source', { '/implementation/source': undefined }, no, 'MissingMember', 'no source'),
    failed('source-list', { '/implementation/source': ['a'] }, no, 'WrongType', 'a source of lines'),
    failed('bytes-text', { '/implementation/bytes': '42' }, no, 'WrongType', 'bytes as text'),
    failed('bytes-negative', { '/implementation/bytes': -1 }, no, 'Range', 'less than no bytes'),
    failed('package', { '/packageId': 'Zip Reader' }, no, 'Alphabet', 'a package id that is not a slug'),
    failed('semver', { '/version': '1.2' }, no, 'SemanticVersion', 'a version of two numbers'),
    judge('failed', 'null', { resource: 'null' }, [no], 'WrongType', 'null'),
  ];
};

const locks = (): Case[] => [
  unlocked('version', { '/version': '1.2.4' }, 'LockBinding', 'another version'),
  unlocked('manifest-hash', { '/manifestHash': sha256Of('x') }, 'LockBinding', 'another manifest'),
  unlocked('source', withSource('x'), 'LockBinding', 'another source, which agrees with itself'),
  unlocked('no-ui', { '/ui': undefined }, 'LockBinding', 'the user interface taken away'),
  unlocked(
    'ui-entry',
    { '/ui/entry': 'ui/other.html' },
    'LockBinding',
    'another entry of the user interface',
  ),
  unlocked(
    'ui-asset',
    { '/ui/assets/0/artifactHash': sha256Of('x') },
    'LockBinding',
    'another file of the user interface',
  ),
  unlocked('build', { '/buildHash': sha256Of('x') }, 'LockBinding', 'of another build'),
  unlocked(
    'package',
    { '/packageId': 'third' },
    'LockBinding',
    'a package that the lock does not have',
    'tool-source.PACKAGE_UNLOCKED',
  ),
  judge(
    'verified',
    'lock-member-order',
    {
      resource: JSON.stringify(
        patched(
          {},
          Object.fromEntries(
            Object.entries(resource)
              .toReversed()
              .map(([name, value]) => [`/${name}`, value]),
          ),
        ),
      ),
      lock: lockText,
    },
    [],
    'LockBinding',
    'the order of members of the resource means nothing',
  ),
  badLock('formatted', JSON.stringify(lock, null, 2), 'NotCanonical', 'a lock formatted for people'),
  badLock('not-json', 'lock', 'Structure', 'no JSON'),
  badLock(
    'kind',
    canonicalJson(patched(lock, { '/kind': 'lock' })),
    'UnknownValue',
    'another kind of document',
  ),
  badLock(
    'extra',
    canonicalJson(patched(lock, { '/packages/0/scripts': {} })),
    'UnknownMember',
    'an unknown member',
  ),
  badLock(
    'package-twice',
    canonicalJson(patched(lock, { '/packages/0/packageId': 'zip-reader' })),
    'DuplicateId',
    'one package twice',
  ),
  badLock(
    'path',
    canonicalJson(patched(lock, { '/packages/0/source': '../tool.js' })),
    'PathTraversal',
    'a path out of the archive',
  ),
];

export const toolSources: Kind<Input, Case['expected']> = {
  name: 'tool-sources',
  about: 'a tool source resource and, perhaps, a lock that the caller trusts, and the verdict',
  clause: 'formats §7; control API, Tool source',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...sound(), ...changed(), ...shapes(), ...locks()],
};
