import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { type BundleChoices, T, bundle } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import { type Case, MANIFEST, changing, failed, judge, without } from './case.ts';

export const manifests = (): Case[] => [
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
    'another manifest next to the attestation',
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
    'a run result with an unknown member',
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
