import * as z from 'zod';
import { canonicalJson } from '../../src/bytes/json-canonical.ts';
import type { Code } from '../../src/codes/index.ts';
import type { Flag } from '../flags.ts';
import { accepts, digestTextSchema, refused, VALID, type Kind, type VectorCase } from '../kind.ts';
import { bundle, T } from '../make/bundle.ts';
import { sha256Of } from '../make/bytes.ts';
import { exportManifest, partPath, reportPath } from '../make/export.ts';
import type { Patch } from '../make/patch.ts';

const inputSchema = z.strictObject({
  manifest: z.string().describe('manifest.json as text; its bytes are the UTF-8 of it'),
  limits: z.strictObject({ parts: z.int() }).optional(),
});
const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    digest: digestTextSchema,
    selectionDigest: digestTextSchema.describe('what the rows give, which the manifest states too'),
    parts: z.int(),
    localReports: z.int(),
  }),
);
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;

const bundles = [bundle(1, { signer: 'a' }), bundle(2)];
const sound = canonicalJson(exportManifest(bundles, 2));

const good = (
  id: string,
  manifest: string,
  counts: readonly [number, number],
  selectionDigest: string,
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { manifest },
  expected: {
    ...VALID,
    digest: sha256Of(manifest),
    selectionDigest,
    parts: counts[0],
    localReports: counts[1],
  },
});
const raw = (id: string, manifest: string, code: Code, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: { manifest },
  expected: refused(code),
});
const bad = (id: string, rows: Patch, manifest: Patch, flag: Flag, comment: string): Case =>
  raw(
    id,
    canonicalJson(exportManifest(bundles, 2, rows, manifest)),
    'export.MANIFEST_INVALID',
    flag,
    comment,
  );

const digestOf = (...rows: readonly (readonly [member: string, id: string, manifest: string])[]): string =>
  sha256Of(
    `[${rows.map(([member, id, digest]) => `{"${member}":"${id}","manifestDigest":"${digest}"}`).join(',')}]`,
  );
const partOf = (n: number) =>
  ['evidenceBundleId', `evidence_00000000000${n}`, sha256Of(bundle(n).manifestBytes)] as const;
const reportOf = (n: number) =>
  ['localReportId', `lrep_00000000000${n}`, sha256Of(`manifest of report ${n}`)] as const;
const SELECTION = digestOf(partOf(1), partOf(2), reportOf(1), reportOf(2));

const sounds = (): Case[] => [
  good('usual', sound, [2, 2], SELECTION, 'Usual', 'two bundles and two local reports'),
  good(
    'no-reports',
    canonicalJson(exportManifest(bundles, 0)),
    [2, 0],
    digestOf(partOf(1), partOf(2)),
    'Usual',
    'no local report',
  ),
  good(
    'empty',
    canonicalJson(exportManifest([], 0)),
    [0, 0],
    sha256Of('[]'),
    'EmptySet',
    'nothing: its verdict is another matter',
  ),
  good(
    'organization',
    canonicalJson(exportManifest(bundles, 2, {}, { '/scope': { kind: 'organization' } })),
    [2, 2],
    SELECTION,
    'Scope',
    'of a whole organization',
  ),
  good(
    'several-projects',
    canonicalJson(
      exportManifest(
        bundles,
        2,
        { '/parts/1/projectId': 'prj_000000000002' },
        { '/scope': { kind: 'organization' } },
      ),
    ),
    [2, 2],
    SELECTION,
    'Scope',
    'of several projects of an organization',
  ),
  good(
    'window-empty',
    canonicalJson(exportManifest(bundles, 2, {}, { '/fromAtMs': T, '/throughAtMs': T })),
    [2, 2],
    SELECTION,
    'Time',
    'a window without a millisecond: that rows lie in it is judged with the parts',
  ),
  {
    ...good('at-limit', sound, [2, 2], SELECTION, 'Size', 'as many rows as the limit'),
    input: { manifest: sound, limits: { parts: 2 } },
  },
  {
    ...raw('above-limit', sound, 'export.PARTS_EXCEEDED', 'Size', 'one row more than the limit'),
    input: { manifest: sound, limits: { parts: 1 } },
  },
];

const members = (): Case[] => [
  bad('version', {}, { '/schemaVersion': 2 }, 'UnknownValue', 'another version'),
  bad('kind', {}, { '/kind': 'evidence.bundle' }, 'WrongType', 'the manifest of something else'),
  bad('extra', {}, { '/note': '' }, 'UnknownMember', 'a member that nobody knows'),
  bad('no-id', {}, { '/evidenceExportId': undefined }, 'MissingMember', 'no id'),
  bad('id', {}, { '/evidenceExportId': 'evidence_000000000001' }, 'Prefix', 'the id of a bundle'),
  bad('no-organization', {}, { '/organizationId': undefined }, 'MissingMember', 'no organization'),
  bad('scope-text', {}, { '/scope': 'organization' }, 'WrongType', 'a scope as text'),
  bad('scope-kind', {}, { '/scope': { kind: 'everything' } }, 'UnknownValue', 'a scope that there is not'),
  bad('scope-no-project', {}, { '/scope': { kind: 'project' } }, 'MissingMember', 'a project without its id'),
  bad(
    'scope-extra',
    {},
    { '/scope': { kind: 'organization', projectId: 'prj_000000000001' } },
    'UnknownMember',
    'an organization with a project',
  ),
  bad('window-reversed', {}, { '/fromAtMs': T + 1 }, 'Time', 'a window that ends before it begins'),
  bad('window-text', {}, { '/throughAtMs': String(T) }, 'WrongType', 'a time as text'),
  bad('no-selection', {}, { '/selectionDigest': undefined }, 'MissingMember', 'no selection digest'),
  bad('no-parts', {}, { '/parts': undefined }, 'MissingMember', 'no list of parts'),
  bad(
    'no-local-reports',
    {},
    { '/localReports': undefined },
    'MissingMember',
    'no list of local reports: an empty one is written',
  ),
];

const rows = (): Case[] => [
  bad('ordinal-gap', { '/parts/1/ordinal': 2 }, {}, 'Ordinal', 'a gap, where a part may have been taken out'),
  bad('ordinal-one', { '/parts/0/ordinal': 1, '/parts/1/ordinal': 2 }, {}, 'Ordinal', 'counted from one'),
  bad('ordinal-twice', { '/parts/1/ordinal': 0 }, {}, 'Ordinal', 'one ordinal twice'),
  bad(
    'ordinal-continued',
    { '/localReports/0/ordinal': 2, '/localReports/1/ordinal': 3 },
    {},
    'Ordinal',
    'reports counted on from the parts',
  ),
  bad('part-path', { '/parts/0/path': 'parts/a.zip' }, {}, 'PathBinding', 'another path than the id gives'),
  bad(
    'part-path-swapped',
    { '/parts/0/path': partPath(2), '/parts/1/path': partPath(1) },
    {},
    'PathBinding',
    'the paths of two parts exchanged',
  ),
  bad(
    'part-path-traversal',
    { '/parts/0/path': '../parts/evidence_000000000001.zip' },
    {},
    'PathTraversal',
    'a path out of the export',
  ),
  bad(
    'report-path',
    { '/localReports/0/path': reportPath(2) },
    {},
    'PathBinding',
    'the path of another report',
  ),
  bad(
    'part-twice',
    { '/parts/1/evidenceBundleId': 'evidence_000000000001', '/parts/1/path': partPath(1) },
    {},
    'DuplicateId',
    'one bundle twice',
  ),
  bad(
    'report-twice',
    { '/localReports/1/localReportId': 'lrep_000000000001', '/localReports/1/path': reportPath(1) },
    {},
    'DuplicateId',
    'one report twice',
  ),
  bad(
    'report-twin',
    {
      '/localReports/0/localReportId': 'Report',
      '/localReports/0/path': 'local-reports/Report.zip',
      '/localReports/1/localReportId': 'report',
      '/localReports/1/path': 'local-reports/report.zip',
    },
    {},
    'DuplicateId',
    'two reports whose ids differ in case',
  ),
  bad(
    'report-device',
    { '/localReports/0/localReportId': 'con', '/localReports/0/path': 'local-reports/con.zip' },
    {},
    'DeviceName',
    'a report whose path is a device of Windows',
  ),
  bad(
    'part-project',
    { '/parts/0/projectId': 'prj_000000000002' },
    {},
    'Scope',
    'a bundle of another project than the scope',
  ),
  bad(
    'report-project',
    { '/localReports/0/projectId': 'prj_000000000002' },
    {},
    'Scope',
    'a report of another project',
  ),
  bad('part-bytes-number', { '/parts/0/bytes': 100 }, {}, 'WrongType', 'bytes as a number'),
  bad('part-bytes-zero', { '/parts/0/bytes': '0100' }, {}, 'Decimal', 'bytes with a leading zero'),
  bad(
    'part-bytes-huge',
    { '/parts/0/bytes': '9007199254740993' },
    {},
    'Size',
    'more bytes than a file can have',
  ),
  bad('part-signed-text', { '/parts/0/signed': 'true' }, {}, 'WrongType', 'a truth as text'),
  bad('part-digest', { '/parts/0/digest': 'sha256:' }, {}, 'Length', 'an empty digest'),
  bad(
    'part-extra',
    { '/parts/0/url': 'https://drills.example/part' },
    {},
    'UnknownMember',
    'an address, which could send a mirror elsewhere',
  ),
  bad(
    'part-expanded',
    { '/parts/0/expandedBytes': '1' },
    {},
    'UnknownMember',
    'a member of reports in a part',
  ),
  bad(
    'report-no-expanded',
    { '/localReports/0/expandedBytes': undefined },
    {},
    'MissingMember',
    'a report without its expanded bytes',
  ),
];

const documents = (): Case[] => [
  raw('line-feed', `${sound}\n`, 'json.NOT_CANONICAL', 'NotCanonical', 'a line feed at the end'),
  raw(
    'formatted',
    JSON.stringify(JSON.parse(sound), null, 2),
    'json.NOT_CANONICAL',
    'NotCanonical',
    'formatted for people',
  ),
  raw(
    'duplicate',
    sound.replace('"parts":', '"parts":[],"parts":'),
    'json.MEMBER_DUPLICATE',
    'DuplicateMember',
    'two lists of parts',
  ),
  raw('bom', `\ufeff${sound}`, 'json.BOM', 'ByteOrderMark', 'a byte order mark'),
  raw('cut', sound.slice(0, -1), 'json.INVALID', 'Truncated', 'the last byte missing'),
  raw(
    'bundle',
    canonicalJson(bundle(1).manifest),
    'export.MANIFEST_INVALID',
    'WrongType',
    'the manifest of a bundle',
  ),
];

export const exportManifests: Kind<Case['input'], Case['expected']> = {
  name: 'export-manifests',
  about: 'the manifest of an export, and whether it follows its format',
  clause: 'formats §1, Export manifest, Canonical or parsed',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...sounds(), ...members(), ...rows(), ...documents()],
};
