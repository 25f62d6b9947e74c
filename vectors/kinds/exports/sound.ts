import { T, bundle } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import { makeExport } from '../../make/export.ts';
import { receipt } from '../../make/receipt.ts';
import { CLAIMED, type Case, DIGEST, TWO, UNATTESTED, adding, judge, tree } from './case.ts';

export const sound = (): Case[] => [
  judge(
    'signed',
    tree({ bundles: TWO }),
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
    'the list is not signed: bundles could be missing',
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
    tree({ bundles: [bundle(1)] }),
    { result: 'intact', codes: [UNATTESTED, 'bundle.UNSIGNED'] },
    'Unsigned',
    'an unsigned bundle under a signed list',
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
    tree({
      files: (before) => ({
        ...before,
        SHA256SUMS: utf8(`${DIGEST.slice('sha256:'.length)}  manifest.json\n`),
        '.drillproof-mirror/lock': utf8('{}'),
        [receipt(0).path]: utf8(receipt(0).text),
      }),
    }),
    { result: 'verified', codes: [UNATTESTED] },
    'MirrorFile',
    'checksums, a receipt and the lock of a run, which a mirror adds and nothing depends on',
  ),
  judge(
    'checksums-of-others',
    tree(adding('SHA256SUMS', `${'0'.repeat(64)}  manifest.json\n`)),
    { result: 'verified', codes: [UNATTESTED, 'receipt.INVALID'] },
    'MirrorFile',
    'checksums that contradict the export change no verdict',
  ),
  judge(
    'receipt-renamed',
    tree(adding(receipt(1).path, receipt(0).text)),
    { result: 'verified', codes: [UNATTESTED, 'receipt.INVALID'] },
    'MirrorFile',
    'a receipt under the name of another',
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
    tree(adding('receipts/20260101T000000.000Z-000000000000.json', '{}')),
    { result: 'verified', codes: [UNATTESTED, 'receipt.INVALID'] },
    'MirrorFile',
    'a receipt that breaks its format',
  ),
  judge(
    'uncovered',
    tree(adding('README.txt', 'hello')),
    { result: 'failed', codes: [UNATTESTED, 'export.FILE_UNCOVERED'] },
    'ExtraFile',
    'a file that nothing covers, outside the folders of evidence',
  ),
];
