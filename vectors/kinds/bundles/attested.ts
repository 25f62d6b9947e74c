import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { T, bundle, idOf } from '../../make/bundle.ts';
import { sha256Of, utf8 } from '../../make/bytes.ts';
import { keyId } from '../../make/keys.ts';
import { ATTESTATION, type Case, changing, failed, judge, replacing, signedZip, trusting } from './case.ts';

export const attested = (): Case[] => [
  failed(
    'attestation-of-other',
    {
      entries: replacing(ATTESTATION, () => [
        { name: ATTESTATION, bytes: canonicalBytes(bundle(2, { signer: 'a' }).attestation) },
      ]),
    },
    'WrongSubject',
    'the attestation of another bundle',
    'attestation.SUBJECT_MISMATCH',
    'bundle.BINDING_MISMATCH',
  ),
  failed(
    'attestation-changed',
    { attestation: { '/statement/issuedAtMs': T - 1 } },
    'ModifiedMessage',
    'the statement changed after signing',
    'attestation.SIGNATURE_INVALID',
  ),
  failed(
    'attestation-encoding',
    { attestation: { '/signature': 'AA==' } },
    'Padding',
    'a signature with padding',
    'attestation.SIGNATURE_ENCODING',
  ),
  failed(
    'attestation-invalid',
    { attestation: { '/algorithm': 'none' } },
    'WrongAlgorithm',
    'no algorithm',
    'attestation.INVALID',
  ),
  failed(
    'attestation-formatted',
    changing(ATTESTATION, (bytes) => utf8(` ${new TextDecoder().decode(bytes)}`)),
    'NotCanonical',
    'a space before the attestation',
    'json.NOT_CANONICAL',
  ),
  failed(
    'attestation-empty',
    changing(ATTESTATION, () => utf8('')),
    'Structure',
    'an attestation of no bytes',
    'json.INVALID',
  ),
  failed(
    'attestation-type',
    { statement: { '/predicateType': 'urn:drillproof:attestation:export:v1' } },
    'WrongType',
    'a statement that calls itself one about an export',
    'attestation.PREDICATE_UNSUPPORTED',
  ),
  failed(
    'attestation-key',
    { statement: { '/keyId': keyId('b') } },
    'KeyName',
    'the name of another key',
    'trust.KEY_UNKNOWN',
  ),
  judge(
    'failed',
    'unknown-key',
    bundle(1, { signer: 'b' }).zip,
    {},
    ['trust.KEY_UNKNOWN'],
    'KeyName',
    'signed by an untrusted key',
  ),
  judge(
    'failed',
    'revoked-key',
    signedZip(),
    { trust: trusting({ revokedAtMs: T + 1 }) },
    ['trust.KEY_REVOKED'],
    'Revocation',
    'signed by a key that was compromised later',
  ),
  judge(
    'failed',
    'other-project-key',
    signedZip(),
    { trust: trusting({ projects: [idOf('prj', 2)] }) },
    ['trust.PROJECT_MISMATCH'],
    'Scope',
    'signed by a key for another project',
  ),
  judge(
    'failed',
    'future',
    signedZip(),
    { asOfMs: T - 1 },
    ['attestation.ISSUED_IN_FUTURE'],
    'Time',
    'signed one millisecond after the verification',
  ),
  judge(
    'failed',
    'unbound-no-trust',
    signedZip({ statement: { '/subject/stateHash': sha256Of('x') } }),
    { trust: undefined },
    ['bundle.BINDING_MISMATCH', 'trust.STORE_ABSENT'],
    'Binding',
    'a signed digest is compared also if the signature is not verified',
  ),
];
