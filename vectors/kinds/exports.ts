import * as z from 'zod';
import { canonicalBytes } from '../../src/bytes/json-canonical.ts';
import type { Code } from '../../src/codes/index.ts';
import type { RawEntry } from '../../test/zip/raw-zip.ts';
import type { Flag } from '../flags.ts';
import {
  base64Schema,
  codeSchema,
  digestTextSchema,
  sortedCodes,
  type Kind,
  type VectorCase,
} from '../kind.ts';
import { bundle, idOf, ORGANIZATION, PROJECT, T, zipOf, type NamedBytes } from '../make/bundle.ts';
import { base64Of, flipped, sha256Of, utf8 } from '../make/bytes.ts';
import { EVIDENCE_TYPE } from '../make/bundle.ts';
import {
  EXPORT_ID,
  makeExport,
  partPath,
  reportPath,
  type ExportChoices,
  type Files,
} from '../make/export.ts';
import { storeKey, storeText } from '../make/keys.ts';
import type { Patch } from '../make/patch.ts';
import { DEFLATED } from '../make/deflate.ts';
import { RESULTS } from './bundles.ts';

const COMPLETENESS = ['pinned', 'attested', 'claimed'] as const;
const inputSchema = z.strictObject({
  files: z.record(z.string(), base64Schema).optional().describe('the tree, by path from its root'),
  irregular: z.array(z.string()).optional().describe('paths where a link or device lies instead of a file'),
  zip: base64Schema.optional().describe('the tree as one ZIP, in place of files'),
  trust: z.string().optional().describe('the trust store as JSON text; absent when none is given'),
  asOfMs: z.int(),
  depth: z.enum(['full', 'digest']).optional().describe('full when absent'),
  expect: z
    .strictObject({
      manifestDigest: digestTextSchema.optional(),
      evidenceExportId: z.string().optional(),
      organizationId: z.string().optional(),
      projectId: z.string().optional(),
      bundles: z.int().optional(),
    })
    .optional(),
  limits: z.strictObject({ parts: z.int().optional(), files: z.int().optional() }).optional(),
});
const expectedSchema = z.strictObject({
  verdict: z.enum(['valid', 'invalid']),
  result: z.enum(RESULTS),
  completeness: z.enum(COMPLETENESS),
  codes: z.array(codeSchema).describe('distinct codes of all findings, of parts and reports too, sorted'),
});
type Input = z.infer<typeof inputSchema>;
type Expected = z.infer<typeof expectedSchema>;
type Case = VectorCase<Input, Expected>;
type Result = Expected['result'];

const TRUST = storeText(storeKey('a', { purposes: ['evidence', 'export'] }));
const UNATTESTED = 'local-report.UNATTESTED';
const CLAIMED = 'export.COMPLETENESS_CLAIMED';

const filesOf = (files: Files): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [path, base64Of(bytes)]));

type Expectation = {
  readonly result: Result;
  readonly completeness?: Expected['completeness'];
  readonly codes: readonly Code[];
};
const judge = (
  id: string,
  input: Partial<Input>,
  { result, completeness = 'attested', codes }: Expectation,
  flag: Flag,
  comment: string,
): Case => ({
  id,
  comment,
  flags: [flag],
  input: { trust: TRUST, asOfMs: T, ...input },
  expected: {
    verdict: result === 'verified' || result === 'intact' ? 'valid' : 'invalid',
    result,
    completeness,
    codes: sortedCodes(codes),
  },
});
const tree = (choices: ExportChoices = {}): Pick<Input, 'files'> => ({
  files: filesOf(makeExport(choices).files),
});
/** An export that fails with these codes, beside that of its local report; its list is signed and trusted. */
const failed = (id: string, choices: ExportChoices, flag: Flag, comment: string, ...codes: Code[]): Case =>
  judge(id, tree(choices), { result: 'failed', codes: [UNATTESTED, ...codes] }, flag, comment);
/** The same where nobody vouches for the list. */
const unvouched = (id: string, choices: ExportChoices, flag: Flag, comment: string, ...codes: Code[]): Case =>
  judge(
    id,
    tree(choices),
    { result: 'failed', completeness: 'claimed', codes: [CLAIMED, UNATTESTED, ...codes] },
    flag,
    comment,
  );

const changing = (path: string, change: (bytes: Uint8Array) => Uint8Array): ExportChoices => ({
  files: (files) => ({ ...files, [path]: change(files[path] ?? new Uint8Array()) }),
});
const without = (path: string): ExportChoices => ({
  files: (files) => Object.fromEntries(Object.entries(files).filter(([name]) => name !== path)),
});
const adding = (path: string, bytes: Uint8Array | string): ExportChoices => ({
  files: (files) => ({ ...files, [path]: typeof bytes === 'string' ? utf8(bytes) : bytes }),
});

const DIGEST = sha256Of(makeExport().manifestBytes);
const unsigned = [bundle(1), bundle(2)];

const sound = (): Case[] => [
  judge(
    'signed',
    tree(),
    { result: 'verified', codes: [UNATTESTED] },
    'Usual',
    'two signed bundles, a local report and a signed list',
  ),
  judge('no-reports', tree({ reports: 0 }), { result: 'verified', codes: [] }, 'Usual', 'no local report'),
  judge(
    'list-unsigned',
    tree({ signer: null }),
    { result: 'verified', completeness: 'claimed', codes: [CLAIMED, UNATTESTED] },
    'Completeness',
    'nobody signed the list: bundles could have been left out',
  ),
  judge(
    'pinned',
    {
      ...tree({ signer: null }),
      expect: { manifestDigest: sha256Of(makeExport({ signer: null }).manifestBytes) },
    },
    { result: 'verified', completeness: 'pinned', codes: [UNATTESTED] },
    'Completeness',
    'the caller knows the digest of the list',
  ),
  judge(
    'pinned-and-signed',
    { ...tree(), expect: { manifestDigest: DIGEST } },
    { result: 'verified', completeness: 'pinned', codes: [UNATTESTED] },
    'Completeness',
    'both',
  ),
  judge(
    'no-trust',
    { ...tree(), trust: undefined },
    { result: 'intact', completeness: 'claimed', codes: [CLAIMED, UNATTESTED, 'trust.STORE_ABSENT'] },
    'NoTrust',
    'no trust store',
  ),
  judge(
    'bundles-unsigned',
    tree({ bundles: unsigned }),
    { result: 'intact', codes: [UNATTESTED, 'bundle.UNSIGNED'] },
    'Unsigned',
    'unsigned bundles under a signed list',
  ),
  judge(
    'one-unsigned',
    tree({ bundles: [bundle(1, { signer: 'a' }), bundle(2)] }),
    { result: 'intact', codes: [UNATTESTED, 'bundle.UNSIGNED'] },
    'Unsigned',
    'the verdict is that of the worst bundle',
  ),
  judge(
    'only-reports',
    tree({ bundles: [] }),
    { result: 'intact', codes: ['export.EMPTY', UNATTESTED] },
    'EmptySet',
    'local reports and no bundle',
  ),
  judge(
    'empty',
    tree({ bundles: [], reports: 0 }),
    { result: 'incomplete', codes: ['export.EMPTY'] },
    'EmptySet',
    'nothing: an empty set never counts as success',
  ),
  judge(
    'depth-digest',
    { ...tree(), depth: 'digest' },
    { result: 'intact', codes: [UNATTESTED] },
    'Depth',
    'only digests are compared',
  ),
  judge(
    'organization',
    tree({ manifest: { '/scope': { kind: 'organization' } } }),
    { result: 'verified', codes: [UNATTESTED] },
    'Scope',
    'of a whole organization',
  ),
  judge(
    'window-first',
    tree({ manifest: { '/fromAtMs': T - 9999 } }),
    { result: 'verified', codes: [UNATTESTED] },
    'Time',
    'a bundle of the first millisecond of the window',
  ),
  judge(
    'mirror-files',
    tree(adding('SHA256SUMS', `${'0'.repeat(64)}  manifest.json\n`)),
    { result: 'verified', codes: [UNATTESTED] },
    'MirrorFile',
    'checksums, which a mirror adds and nothing depends on',
  ),
  judge(
    'mirror-files-broken',
    tree(adding('SHA256SUMS', 'x')),
    { result: 'verified', codes: [UNATTESTED, 'receipt.INVALID'] },
    'MirrorFile',
    'checksums that break their format change no verdict',
  ),
  judge(
    'receipt-broken',
    tree(adding('receipts/1.json', '{}')),
    { result: 'verified', codes: [UNATTESTED, 'receipt.INVALID'] },
    'MirrorFile',
    'a receipt that breaks its format',
  ),
  judge(
    'uncovered',
    tree(adding('README.txt', 'hello')),
    { result: 'verified', codes: [UNATTESTED, 'export.FILE_UNCOVERED'] },
    'ExtraFile',
    'a file that nothing covers, outside the folders of evidence',
  ),
];

const parts = (): Case[] => [
  failed('part-missing', without(partPath(2)), 'MissingFile', 'a listed part is not there', 'part.MISSING'),
  failed(
    'part-extra',
    adding(partPath(3), bundle(3, { signer: 'a' }).zip),
    'ExtraFile',
    'a sound part that nobody lists',
    'part.EXTRA',
  ),
  failed(
    'part-extra-text',
    adding('parts/note.txt', 'x'),
    'ExtraFile',
    'another file among the parts',
    'part.EXTRA',
  ),
  failed(
    'part-byte',
    changing(partPath(1), (bytes) => flipped(bytes, 5)),
    'ModifiedContent',
    'a byte of a part changed',
    'part.DIGEST_MISMATCH',
    'zip.HEADER_MISMATCH',
  ),
  failed(
    'part-cut',
    changing(partPath(1), (bytes) => bytes.subarray(0, -1)),
    'Truncated',
    'a part without its last byte',
    'part.BYTES_MISMATCH',
    'part.DIGEST_MISMATCH',
    'zip.NOT_A_ZIP',
  ),
  failed(
    'part-longer',
    changing(partPath(1), (bytes) => Uint8Array.of(...bytes, 0)),
    'HiddenBytes',
    'a part with a byte more',
    'part.BYTES_MISMATCH',
    'part.DIGEST_MISMATCH',
    'zip.BYTES_UNACCOUNTED',
  ),
  failed(
    'part-empty',
    changing(partPath(1), () => new Uint8Array()),
    'Truncated',
    'a part of no bytes',
    'part.BYTES_MISMATCH',
    'part.DIGEST_MISMATCH',
    'zip.NOT_A_ZIP',
  ),
  failed(
    'parts-swapped',
    {
      files: (files) => ({
        ...files,
        [partPath(1)]: files[partPath(2)]!,
        [partPath(2)]: files[partPath(1)]!,
      }),
    },
    'WrongSubject',
    'two parts exchanged',
    'export.SELECTION_MISMATCH',
    'part.BYTES_MISMATCH',
    'part.DIGEST_MISMATCH',
    'part.ROW_MISMATCH',
  ),
  failed(
    'part-repacked',
    changing(partPath(1), () => bundle(1, { signer: 'a', entries: (all) => all.toReversed() }).zip),
    'UnusualOrder',
    'a sound part packed anew: other bytes than listed',
    'part.DIGEST_MISMATCH',
    'zip.ORDER_UNUSUAL',
  ),
  judge(
    'part-byte-digest-depth',
    { ...tree(changing(partPath(1), (bytes) => flipped(bytes, -1))), depth: 'digest' },
    { result: 'failed', codes: [UNATTESTED, 'part.DIGEST_MISMATCH'] },
    'Depth',
    'a changed byte at the depth of digests',
  ),
  judge(
    'part-irregular',
    { ...tree(without(partPath(2))), irregular: [partPath(2)] },
    { result: 'failed', codes: [UNATTESTED, 'export.FILE_IRREGULAR'] },
    'EntryKind',
    'a link in the place of a part',
  ),
  failed(
    'part-renamed',
    {
      files: (files) => ({
        ...Object.fromEntries(Object.entries(files).filter(([name]) => name !== partPath(2))),
        [partPath(7)]: files[partPath(2)]!,
      }),
    },
    'ExtraFile',
    'a part under another name',
    'part.EXTRA',
    'part.MISSING',
  ),
  failed(
    'bundle-forged',
    {
      bundles: [
        bundle(1, { signer: 'a' }),
        bundle(2, { signer: 'a', statement: { '/subject/stateHash': sha256Of('x') } }),
      ],
    },
    'Binding',
    'one bundle whose statement speaks of another state',
    'bundle.BINDING_MISMATCH',
  ),
  failed(
    'bundle-unknown-key',
    { bundles: [bundle(1, { signer: 'a' }), bundle(2, { signer: 'b' })] },
    'KeyName',
    'one bundle signed by a key that nobody trusts',
    'trust.KEY_UNKNOWN',
  ),
];

const rows = (): Case[] => {
  const no = 'part.ROW_MISMATCH';
  const row = (id: string, patch: Patch, comment: string, ...codes: Code[]): Case =>
    failed(`row-${id}`, { rows: patch }, 'RowBinding', comment, no, ...codes);
  return [
    row('signed', { '/parts/0/signed': false }, 'a row that calls a signed bundle unsigned'),
    row(
      'manifest-digest',
      { '/parts/0/manifestDigest': sha256Of('x') },
      'a row with another manifest digest',
    ),
    failed(
      'row-unsigned',
      { bundles: [bundle(1, { signer: 'a' }), bundle(2)], rows: { '/parts/1/signed': true } },
      'RowBinding',
      'the attestation taken away from a bundle that is listed as signed',
      no,
      'bundle.UNSIGNED',
    ),
    failed(
      'row-project',
      {
        bundles: [
          bundle(1, { signer: 'a' }),
          bundle(2, { signer: 'a', manifest: { '/projectId': idOf('prj', 2) } }),
        ],
        rows: { '/parts/1/projectId': PROJECT },
      },
      'RowBinding',
      'a bundle of another project under the name of this one',
      no,
    ),
    failed(
      'row-organization',
      {
        bundles: [
          bundle(1, { signer: 'a' }),
          bundle(2, { signer: 'a', manifest: { '/organizationId': idOf('org', 2) } }),
        ],
      },
      'RowBinding',
      'a bundle of another organization',
      no,
    ),
    failed(
      'row-id',
      {
        bundles: [bundle(1, { signer: 'a' }), bundle(2, { signer: 'a' })],
        rows: { '/parts/1/evidenceBundleId': idOf('evidence', 7), '/parts/1/path': partPath(7) },
        files: renamed,
      },
      'RowBinding',
      'a bundle under the id of another',
      no,
    ),
    failed(
      'row-before-window',
      { manifest: { '/fromAtMs': T - 9998 } },
      'Time',
      'a bundle one millisecond before the window',
      no,
    ),
    failed(
      'row-at-end-of-window',
      { manifest: { '/throughAtMs': T - 9998 } },
      'Time',
      'a bundle of the first millisecond after the window',
      no,
    ),
    failed(
      'row-bytes',
      { rows: { '/parts/0/bytes': '1' } },
      'RowBinding',
      'a row with another number of bytes',
      'part.BYTES_MISMATCH',
    ),
    failed(
      'row-digest',
      { rows: { '/parts/0/digest': sha256Of('x') } },
      'RowBinding',
      'a row with another digest',
      'part.DIGEST_MISMATCH',
    ),
  ];
};

const renamed = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, bytes]) => [path === partPath(2) ? partPath(7) : path, bytes]),
  );

const documents = (): Case[] => {
  const resource = 'export.RESOURCE_MISMATCH';
  const differs = (id: string, patch: Patch, comment: string): Case =>
    failed(`resource-${id}`, { resource: patch }, 'ResourceBinding', comment, resource);
  return [
    judge(
      'manifest-missing',
      tree(without('manifest.json')),
      { result: 'failed', completeness: 'claimed', codes: ['export.MANIFEST_MISSING', CLAIMED] },
      'MissingFile',
      'no manifest',
    ),
    judge(
      'manifest-invalid',
      tree({ manifest: { '/kind': 'x' } }),
      { result: 'failed', completeness: 'claimed', codes: ['export.MANIFEST_INVALID', CLAIMED] },
      'Structure',
      'a manifest that breaks its format',
    ),
    judge(
      'manifest-formatted',
      tree(changing('manifest.json', (bytes) => Uint8Array.of(...bytes, 10))),
      { result: 'failed', completeness: 'claimed', codes: ['json.NOT_CANONICAL', CLAIMED] },
      'NotCanonical',
      'a line feed after the manifest',
    ),
    failed(
      'selection',
      { manifest: { '/selectionDigest': sha256Of('x') } },
      'Selection',
      'a selection digest over something else',
      'export.SELECTION_MISMATCH',
    ),
    failed(
      'selection-order',
      { bundles: [bundle(2, { signer: 'a' }), bundle(1, { signer: 'a' })] },
      'Selection',
      'parts that are not in order of creation',
      'export.SELECTION_MISMATCH',
    ),
    failed(
      'resource-missing',
      without('export.json'),
      'MissingFile',
      'no export.json',
      'export.RESOURCE_MISSING',
    ),
    failed(
      'resource-invalid',
      { resource: { '/state': undefined } },
      'Structure',
      'an export.json that breaks its format',
      'export.RESOURCE_INVALID',
    ),
    failed(
      'resource-unknown',
      { resource: { '/comment': 'x' } },
      'UnknownMember',
      'a member that nobody knows in export.json',
      'export.RESOURCE_INVALID',
    ),
    failed(
      'resource-duplicate',
      changing('export.json', (bytes) =>
        utf8(new TextDecoder().decode(bytes).replace('{', '{"state":"available",')),
      ),
      'DuplicateMember',
      'two states in export.json',
      'json.MEMBER_DUPLICATE',
    ),
    differs('pending', { '/state': 'pending' }, 'an export that is still pending'),
    differs('id', { '/evidenceExportId': idOf('evexp', 2) }, 'another id'),
    differs('organization', { '/organizationId': idOf('org', 2) }, 'another organization'),
    differs('scope', { '/scope': { kind: 'organization' } }, 'another scope'),
    differs('window', { '/throughAtMs': T + 1 }, 'another window'),
    differs('selection', { '/selectionDigest': sha256Of('x') }, 'another selection'),
    differs('manifest-digest', { '/manifestDigest': sha256Of('x') }, 'another manifest'),
    differs(
      'no-manifest-digest',
      { '/manifestDigest': undefined },
      'no manifest digest, which an available export has',
    ),
    differs('manifest-bytes', { '/manifestBytes': '1' }, 'another size of the manifest'),
    differs('bundle-count', { '/bundleCount': 1 }, 'one bundle less'),
    differs('report-count', { '/localReportCount': 2 }, 'one report more'),
    differs(
      'no-report-count',
      { '/localReportCount': undefined },
      'no number of reports, though there are some',
    ),
    differs('archive-bytes', { '/archiveBytes': '1' }, 'another sum of archives'),
    differs('source-bytes', { '/sourceBytes': '1' }, 'another sum of evidence'),
  ];
};

const lists = (): Case[] => {
  const subject = 'export.ATTESTATION_SUBJECT_MISMATCH';
  return [
    unvouched(
      'list-other-manifest',
      { statement: { '/subject/manifestDigest': sha256Of('x') } },
      'WrongSubject',
      'a signed list of another manifest',
      subject,
    ),
    unvouched(
      'list-other-export',
      { statement: { '/subject/evidenceExportId': idOf('evexp', 2) } },
      'WrongSubject',
      'a signed list of another export',
      subject,
    ),
    unvouched(
      'list-other-organization',
      { statement: { '/subject/organizationId': idOf('org', 2) } },
      'WrongSubject',
      'a signed list of another organization',
      subject,
    ),
    unvouched(
      'list-older',
      changing(
        'export-attestation.json',
        () => makeExport({ bundles: [bundle(1, { signer: 'a' })] }).files['export-attestation.json']!,
      ),
      'WrongSubject',
      'the signed list of a version with fewer bundles',
      subject,
    ),
    unvouched(
      'list-evidence-type',
      { statement: { '/predicateType': EVIDENCE_TYPE } },
      'WrongType',
      'a statement that calls itself one about a bundle',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    unvouched(
      'list-bundle-attestation',
      changing('export-attestation.json', () => canonicalBytes(bundle(1, { signer: 'a' }).attestation)),
      'WrongType',
      'the attestation of a bundle in its place',
      'attestation.INVALID',
    ),
    unvouched(
      'list-changed',
      { attestation: { '/statement/issuedAtMs': T - 1 } },
      'ModifiedMessage',
      'the statement changed after signing',
      'attestation.SIGNATURE_INVALID',
    ),
    unvouched(
      'list-unknown-key',
      { signer: 'b' },
      'KeyName',
      'signed by a key that nobody trusts',
      'trust.KEY_UNKNOWN',
    ),
    unvouched(
      'list-formatted',
      changing('export-attestation.json', (bytes) => Uint8Array.of(...bytes, 10)),
      'NotCanonical',
      'a line feed after it',
      'json.NOT_CANONICAL',
    ),
    judge(
      'list-purpose',
      { ...tree(), trust: storeText(storeKey('a')) },
      { result: 'failed', completeness: 'claimed', codes: [CLAIMED, UNATTESTED, 'trust.PURPOSE_MISMATCH'] },
      'Purpose',
      'signed by a key that speaks for bundles only',
    ),
    judge(
      'list-future',
      { ...tree({ statement: { '/issuedAtMs': T + 1 } }) },
      {
        result: 'failed',
        completeness: 'claimed',
        codes: [CLAIMED, UNATTESTED, 'attestation.ISSUED_IN_FUTURE'],
      },
      'Time',
      'signed after the verification',
    ),
    judge(
      'list-other-project',
      {
        ...tree(),
        trust: storeText(storeKey('a', { purposes: ['evidence', 'export'], projects: [idOf('prj', 2)] })),
      },
      { result: 'failed', completeness: 'claimed', codes: [CLAIMED, UNATTESTED, 'trust.PROJECT_MISMATCH'] },
      'Scope',
      'signed by a key for another project',
    ),
  ];
};

const reports = (): Case[] => [
  failed(
    'report-missing',
    without(reportPath(1)),
    'MissingFile',
    'a listed report is not there',
    'local-report.MISSING',
  ),
  failed(
    'report-extra',
    adding(reportPath(2), 'x'),
    'ExtraFile',
    'a report that nobody lists',
    'local-report.EXTRA',
  ),
  failed(
    'report-byte',
    changing(reportPath(1), (bytes) => flipped(bytes, 0)),
    'ModifiedContent',
    'a byte of a report changed',
    'local-report.DIGEST_MISMATCH',
  ),
  failed(
    'report-longer',
    changing(reportPath(1), (bytes) => Uint8Array.of(...bytes, 0)),
    'ModifiedContent',
    'a report with a byte more',
    'local-report.BYTES_MISMATCH',
    'local-report.DIGEST_MISMATCH',
  ),
  judge(
    'report-irregular',
    { ...tree(without(reportPath(1))), irregular: [reportPath(1)] },
    { result: 'failed', codes: [UNATTESTED, 'export.FILE_IRREGULAR'] },
    'EntryKind',
    'a link in the place of a report',
  ),
];

const expectations = (): Case[] => {
  const expecting = (
    id: string,
    expect: NonNullable<Input['expect']>,
    codes: readonly Code[],
    comment: string,
  ): Case =>
    judge(
      `expect-${id}`,
      { ...tree(), expect },
      { result: codes.length > 0 ? 'failed' : 'verified', codes: [UNATTESTED, ...codes] },
      'Expectation',
      comment,
    );
  return [
    expecting(
      'all',
      { evidenceExportId: EXPORT_ID, organizationId: ORGANIZATION, projectId: PROJECT, bundles: 2 },
      [],
      'what the caller expects',
    ),
    expecting(
      'manifest',
      { manifestDigest: sha256Of('x') },
      ['expect.MANIFEST_MISMATCH'],
      'another manifest',
    ),
    expecting('export', { evidenceExportId: idOf('evexp', 2) }, ['expect.EXPORT_MISMATCH'], 'another export'),
    expecting(
      'organization',
      { organizationId: idOf('org', 2) },
      ['expect.ORGANIZATION_MISMATCH'],
      'another organization',
    ),
    expecting('project', { projectId: idOf('prj', 2) }, ['expect.PROJECT_MISMATCH'], 'another project'),
    expecting('fewer-bundles', { bundles: 1 }, ['expect.BUNDLES_MISMATCH'], 'fewer bundles'),
    expecting('more-bundles', { bundles: 3 }, ['expect.BUNDLES_MISMATCH'], 'more bundles'),
    expecting('no-bundles', { bundles: 0 }, ['expect.BUNDLES_MISMATCH'], 'none'),
  ];
};

const limits = (): Case[] => [
  judge(
    'parts-at-limit',
    { ...tree(), limits: { parts: 2 } },
    { result: 'verified', codes: [UNATTESTED] },
    'Size',
    'as many parts as the limit',
  ),
  judge(
    'parts-above-limit',
    { ...tree(), limits: { parts: 1 } },
    { result: 'failed', completeness: 'claimed', codes: ['export.PARTS_EXCEEDED', CLAIMED] },
    'Size',
    'one part more than the limit',
  ),
  judge(
    'files-at-limit',
    { ...tree(), limits: { files: 6 } },
    { result: 'verified', codes: [UNATTESTED] },
    'Size',
    'as many files as the limit',
  ),
  judge(
    'files-above-limit',
    { ...tree(), limits: { files: 5 } },
    { result: 'failed', codes: ['export.FILES_EXCEEDED', UNATTESTED] },
    'Size',
    'one file more than the limit',
  ),
];

const ORDER = [
  'manifest.json',
  'export.json',
  'export-attestation.json',
  partPath(1),
  partPath(2),
  reportPath(1),
];

const oneFile = (): Case[] => {
  const entries: NamedBytes[] = ORDER.map((name) => ({ name, bytes: makeExport().files[name]! }));
  const zip = (
    change: (all: NamedBytes[]) => readonly (NamedBytes & Partial<RawEntry>)[] = (all) => all,
  ): Pick<Input, 'zip'> => ({
    zip: base64Of(zipOf(change(entries))),
  });
  const extra: NamedBytes & Partial<RawEntry> = {
    name: 'x.txt',
    bytes: utf8('some bytes, some bytes, some bytes'),
    method: 8,
    data: DEFLATED.text,
  };
  return [
    judge('zip', zip(), { result: 'verified', codes: [UNATTESTED] }, 'OneFile', 'the tree as one ZIP'),
    judge(
      'zip-crc',
      zip((all) => [...all, { name: 'x.txt', bytes: utf8('x'), both: { crc: 1 } }]),
      { result: 'failed', codes: [UNATTESTED, 'export.FILE_UNCOVERED', 'zip.CRC_MISMATCH'] },
      'OneFile',
      'a wrong CRC of a file that nobody lists: the container is damaged',
    ),
    judge(
      'zip-deflated',
      zip((all) => [...all, extra]),
      { result: 'verified', codes: [UNATTESTED, 'export.FILE_UNCOVERED'] },
      'OneFile',
      'a file that is compressed and not evidence',
    ),
    judge(
      'zip-part-missing',
      zip((all) => all.filter(({ name }) => name !== partPath(1))),
      { result: 'failed', codes: [UNATTESTED, 'part.MISSING'] },
      'OneFile',
      'a part taken out',
    ),
  ];
};

export const exports: Kind<Input, Expected> = {
  name: 'exports',
  about: 'a whole export, a trust store and a time, and the verdict',
  clause: 'formats §1, §2, §3, §4; formats, Limits',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...parts(),
    ...rows(),
    ...documents(),
    ...lists(),
    ...reports(),
    ...expectations(),
    ...limits(),
    ...oneFile(),
  ],
};
