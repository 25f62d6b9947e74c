import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { T } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { exportManifest } from '../../make/export.ts';
import { type Case, bundles, digestOf, good, partOf, raw, reportOf, sound } from './case.ts';

const SELECTION = digestOf(partOf(1), partOf(2), reportOf(1), reportOf(2));

export const sounds = (): Case[] => [
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
