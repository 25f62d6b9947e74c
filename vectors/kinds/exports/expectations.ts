import type { Code } from '../../../src/codes/catalogue.ts';
import { ORGANIZATION, PROJECT, idOf } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { EXPORT_ID } from '../../make/export.ts';
import { CLAIMED, type Case, type Input, TWO, UNATTESTED, judge, tree } from './case.ts';

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

export const expectations = (): Case[] => {
  return [
    expecting(
      'all',
      { evidenceExportId: EXPORT_ID, organizationId: ORGANIZATION, projectId: PROJECT, bundles: 1 },
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
    expecting('fewer-bundles', { bundles: 0 }, ['expect.BUNDLES_MISMATCH'], 'fewer bundles'),
    expecting('more-bundles', { bundles: 2 }, ['expect.BUNDLES_MISMATCH'], 'more bundles'),
  ];
};

export const limits = (): Case[] => [
  judge(
    'parts-at-limit',
    { ...tree({ bundles: TWO }), limits: { parts: 2 } },
    { result: 'verified', codes: [UNATTESTED] },
    'Size',
    'as many parts as the limit',
  ),
  judge(
    'parts-above-limit',
    { ...tree({ bundles: TWO }), limits: { parts: 1 } },
    { result: 'failed', completeness: 'claimed', codes: ['export.PARTS_EXCEEDED', CLAIMED] },
    'Size',
    'one part more than the limit',
  ),
  judge(
    'files-at-limit',
    { ...tree(), limits: { files: 5 } },
    { result: 'verified', codes: [UNATTESTED] },
    'Size',
    'as many files as the limit',
  ),
  judge(
    'files-above-limit',
    { ...tree(), limits: { files: 4 } },
    { result: 'failed', codes: ['export.FILES_EXCEEDED', UNATTESTED] },
    'Size',
    'one file more than the limit',
  ),
];
