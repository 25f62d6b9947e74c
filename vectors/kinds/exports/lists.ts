import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { EVIDENCE_TYPE, T, bundle, idOf } from '../../make/bundle.ts';
import { sha256Of } from '../../make/bytes.ts';
import { makeExport } from '../../make/export.ts';
import { storeKey, storeText } from '../../make/keys.ts';
import { CLAIMED, type Case, UNATTESTED, changing, judge, tree, unvouched } from './case.ts';

export const lists = (): Case[] => {
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
        () => makeExport({ bundles: [] }).files['export-attestation.json']!,
      ),
      'WrongSubject',
      'the signed list of an older version, which is empty',
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
      'signed by an untrusted key',
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
      'signed by a key for bundles only',
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
