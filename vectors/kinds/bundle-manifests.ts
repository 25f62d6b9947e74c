import * as z from 'zod/mini';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import type { Code } from '../../src/codes/catalogue.ts';
import type { Flag } from '../flags.ts';
import { accepts, digestTextSchema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import { bundle } from '../make/bundle.ts';
import { sha256Of } from '../make/bytes.ts';
import { patched, type Patch } from '../make/patch.ts';

const inputSchema = z.strictObject({
  manifest: z.string().check(z.describe('manifest.json as text; its bytes are the UTF-8 of it')),
  limits: z.optional(z.strictObject({ objects: z.int() })),
});
const expectedSchema = accepts(
  z.strictObject({ verdict: z.literal('valid'), digest: digestTextSchema, objects: z.int() }),
);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const base = bundle(1).manifest;
const sound = canonicalJson(base);

const good = (id: string, patch: Patch, flag: Flag, comment: string, objects = 5): Case => {
  const manifest = canonicalJson(patched(base, patch));
  return {
    id,
    comment,
    flags: [flag],
    input: { manifest },
    expected: { ...VALID, digest: sha256Of(manifest), objects },
  };
};
const raw = (id: string, manifest: string, code: Code, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { manifest },
  expected: refused(code),
});
const bad = (id: string, patch: Patch, flag: Flag, comment: string): Case =>
  raw(id, canonicalJson(patched(base, patch)), 'bundle.MANIFEST_INVALID', flag, comment);
const badPath = (id: string, path: string, flag: Flag, comment: string): Case =>
  bad(
    `path-${id}`,
    { '/objects': [{ path, mediaType: 'text/plain', digest: sha256Of(''), bytes: 0 }] },
    flag,
    comment,
  );

const object = (path: string): { path: string; mediaType: string; digest: string; bytes: number } => ({
  path,
  mediaType: 'text/plain',
  digest: sha256Of(''),
  bytes: 0,
});

const sounds = (): Case[] => [
  good('usual', {}, 'Usual', 'five objects'),
  good('no-objects', { '/objects': [] }, 'Usual', 'no object: such a bundle cannot be signed', 0),
  good('rerun', { '/rerunOfHostedRunId': 'hrun_000000000009' }, 'Usual', 'of a rerun'),
  good(
    'media-type',
    { '/objects/0/mediaType': 'text/plain; charset=utf-8' },
    'MediaType',
    'a media type with a parameter',
  ),
  good('no-role', { '/objects/1/role': undefined }, 'Role', 'an object without a role'),
  good(
    'several-logs',
    {
      '/objects': [
        { ...object('objects/a'), role: 'log' },
        { ...object('objects/b'), role: 'log' },
      ],
    },
    'Role',
    'roles that are not signed may repeat',
    2,
  ),
  good(
    'order-utf8',
    { '/objects': [object('objects/a'), object('objects/\uff01'), object('objects/😀')] },
    'ObjectOrder',
    'sorted by UTF-8, where U+FF01 comes before U+1F600; by UTF-16 it would not',
    3,
  ),
  good('time-negative', { '/createdAtMs': -1 }, 'Time', 'before 1970'),
  good(
    'largest-object',
    { '/objects/1/bytes': Number.MAX_SAFE_INTEGER },
    'Size',
    'the largest number of bytes',
  ),
  {
    ...good('at-limit', {}, 'Size', 'as many objects as the limit'),
    input: { manifest: sound, limits: { objects: 5 } },
  },
  {
    ...raw('above-limit', sound, 'bundle.OBJECTS_EXCEEDED', 'Size', 'one object more than the limit'),
    input: { manifest: sound, limits: { objects: 4 } },
  },
];

const members = (): Case[] => [
  bad('version', { '/schemaVersion': 2 }, 'UnknownValue', 'another version'),
  bad('version-text', { '/schemaVersion': '1' }, 'WrongType', 'the version as text'),
  bad('kind', { '/kind': 'evidence.export' }, 'WrongType', 'the manifest of something else'),
  bad('no-kind', { '/kind': undefined }, 'MissingMember', 'no kind'),
  bad('extra', { '/comment': 'x' }, 'UnknownMember', 'an unknown member'),
  bad('proto', { '/constructor': 1 }, 'UnknownMember', 'a member that every JavaScript object inherits'),
  bad('no-id', { '/evidenceBundleId': undefined }, 'MissingMember', 'no id'),
  bad('id-uppercase', { '/evidenceBundleId': 'evidence_00000000000A' }, 'LetterCase', 'an id in uppercase'),
  bad('id-foreign', { '/evidenceBundleId': 'evexp_000000000001' }, 'Prefix', 'the id of an export'),
  bad(
    'id-line-feed',
    { '/evidenceBundleId': 'evidence_000000000001\n' },
    'Anchor',
    'a line feed behind the id',
  ),
  bad('organization', { '/organizationId': 'org_1' }, 'Length', 'a short id of an organization'),
  bad('project-null', { '/projectId': null }, 'WrongType', 'null for a project'),
  bad('run', { '/runId': '1' }, 'Prefix', 'a run id of another form'),
  bad('rerun-null', { '/rerunOfHostedRunId': null }, 'WrongType', 'null for a rerun'),
  bad('time-text', { '/createdAtMs': '2026-01-01T00:00:00Z' }, 'WrongType', 'a time as text'),
  bad('time-fraction', { '/createdAtMs': 0.5 }, 'WrongType', 'half a millisecond'),
  bad('time-huge', { '/createdAtMs': 2 ** 53 }, 'Range', 'a time beyond what a double counts'),
  bad('no-objects-member', { '/objects': undefined }, 'MissingMember', 'no list of objects'),
  bad('objects-map', { '/objects': {} }, 'WrongType', 'objects that are not a list'),
  bad('object-null', { '/objects/0': null }, 'WrongType', 'an object that is null'),
];

const objects = (): Case[] => [
  bad(
    'object-extra',
    { '/objects/0/url': 'https://drills.example/x' },
    'UnknownMember',
    'an address in an object',
  ),
  bad('object-no-digest', { '/objects/0/digest': undefined }, 'MissingMember', 'no digest'),
  bad(
    'object-digest-case',
    { '/objects/0/digest': `sha256:${'A'.repeat(64)}` },
    'LetterCase',
    'a digest in uppercase',
  ),
  bad(
    'object-digest-algorithm',
    { '/objects/0/digest': `md5:${'0'.repeat(32)}` },
    'Prefix',
    'a digest of another algorithm',
  ),
  bad('object-bytes-negative', { '/objects/0/bytes': -1 }, 'Range', 'less than no bytes'),
  bad('object-bytes-text', { '/objects/0/bytes': '33' }, 'WrongType', 'bytes as text'),
  bad('object-media-type', { '/objects/0/mediaType': 'text' }, 'MediaType', 'half a media type'),
  bad(
    'object-media-type-break',
    { '/objects/0/mediaType': 'text/plain\r\nx: y' },
    'MediaType',
    'a line break in a media type',
  ),
  bad(
    'object-media-type-long',
    { '/objects/0/mediaType': `text/${'x'.repeat(251)}` },
    'Length',
    'a media type of 256 characters',
  ),
  bad('object-role', { '/objects/0/role': 'secret' }, 'Role', 'a role that there is not'),
  bad('object-role-twice', { '/objects/1/role': 'state' }, 'Role', 'two objects of a signed role'),
  bad('order', { '/objects': [object('objects/b'), object('objects/a')] }, 'ObjectOrder', 'not sorted'),
  bad(
    'order-utf16',
    { '/objects': [object('objects/😀'), object('objects/\uff01')] },
    'ObjectOrder',
    'sorted by UTF-16',
  ),
  bad('same-path', { '/objects': [object('objects/a'), object('objects/a')] }, 'PathTwin', 'one path twice'),
  bad(
    'twins',
    { '/objects': [object('objects/A'), object('objects/a')] },
    'PathTwin',
    'two paths that differ in case',
  ),
  badPath('outside', 'state.json', 'Prefix', 'a path outside objects/'),
  badPath('prefix', 'objectsx/a', 'Prefix', 'a folder that begins like objects'),
  badPath('manifest', 'manifest.json', 'Prefix', 'the manifest as its own object'),
  badPath('folder', 'objects/', 'EmptySegment', 'the folder itself'),
  badPath('traversal', 'objects/../manifest.json', 'PathTraversal', 'out of the folder'),
  badPath('backslash', 'objects/a\\b', 'Backslash', 'a backslash'),
  badPath('nul', 'objects/a\u0000', 'ControlCharacter', 'a NUL'),
  badPath('device', 'objects/nul.txt', 'DeviceName', 'a device of Windows'),
  badPath('nfd', 'objects/e\u0301', 'NotNormalized', 'not in normalization form C'),
];

const documents = (): Case[] => [
  raw('line-feed', `${sound}\n`, 'json.NOT_CANONICAL', 'NotCanonical', 'a line feed at the end'),
  raw(
    'formatted',
    JSON.stringify(base, null, 1),
    'json.NOT_CANONICAL',
    'NotCanonical',
    'formatted for people',
  ),
  raw(
    'order-of-members',
    JSON.stringify(base),
    'json.NOT_CANONICAL',
    'NotCanonical',
    'members in the order of writing',
  ),
  raw(
    'duplicate',
    sound.replace('"projectId"', '"projectId":"prj_000000000002","projectId"'),
    'json.MEMBER_DUPLICATE',
    'DuplicateMember',
    'two projects',
  ),
  raw('bom', `\ufeff${sound}`, 'json.BOM', 'ByteOrderMark', 'a byte order mark'),
  raw('cut', sound.slice(0, -1), 'json.INVALID', 'Truncated', 'the last byte missing'),
  raw('array', '[]', 'bundle.MANIFEST_INVALID', 'WrongType', 'an array'),
  raw('null', 'null', 'bundle.MANIFEST_INVALID', 'WrongType', 'null'),
];

export const bundleManifests: Kind<Case['input'], Case['expected']> = {
  name: 'bundle-manifests',
  about: 'the manifest of a bundle, and whether it follows its format',
  clause: 'formats §1, Bundle manifest, Paths, Canonical or parsed',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...sounds(), ...members(), ...objects(), ...documents()],
};
