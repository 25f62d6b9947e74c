import type { Code } from '../../../src/codes/catalogue.ts';
import { PROJECT, T, bundle, idOf } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { type Files, partPath } from '../../make/export.ts';
import type { Patch } from '../../make/patch.ts';
import { type Case, TWO, failed } from './case.ts';

export const rows = (): Case[] => {
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
        bundles: TWO,
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
      { manifest: { '/throughAtMs': T - 9999 } },
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
