import { T, bundle, idOf } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import type { Patch } from '../../make/patch.ts';
import { CLAIMED, type Case, changing, failed, judge, tree, without } from './case.ts';

export const documents = (): Case[] => {
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
      'an unknown member in export.json',
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
    differs('bundle-count', { '/bundleCount': 2 }, 'one bundle more'),
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
