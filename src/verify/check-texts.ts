import { catalogue, type Code } from '../codes/catalogue.ts';
import { CHECK_IDS, type CheckId } from './checks.ts';

const ALL = Object.keys(catalogue) as readonly Code[];
const listNamespace = (name: string): readonly Code[] => ALL.filter((code) => code.startsWith(`${name}.`));

/** Codes of failed reads, which leave a check open and never fail it. */
const READ: readonly Code[] = ['io.NOT_FOUND', 'io.UNREADABLE', 'io.CHANGED', 'io.KIND'];
const TEXT: readonly Code[] = ['encoding.UTF8_INVALID', ...listNamespace('json')];
const ARCHIVE: readonly Code[] = listNamespace('zip').filter((code) => code !== 'zip.SECOND_OPINION');
const KEY: readonly Code[] = [
  'trust.KEY_UNKNOWN',
  'trust.KEY_REVOKED',
  'trust.KEY_EXPIRED',
  'trust.KEY_NOT_YET_VALID',
  'trust.PURPOSE_MISMATCH',
  'trust.PROJECT_MISMATCH',
  'trust.ORGANIZATION_MISMATCH',
  'trust.CHAIN_NOT_CHECKED',
  'attestation.TIME_CLAIMED',
  'attestation.STAMPED_EARLIER',
];
const FORMAT: readonly Code[] = [
  'attestation.INVALID',
  'attestation.ISSUED_IN_FUTURE',
  'attestation.PREDICATE_UNSUPPORTED',
  'attestation.SIGNATURE_ENCODING',
];

type CheckTexts = {
  /** The statement that a pass makes. */
  readonly sentence: string;
  /** Codes that only this check, or few others, can give. */
  readonly own: readonly Code[];
  /** Codes of reading and parsing, which many checks can give. */
  readonly shared?: readonly Code[];
};

/** Texts and codes of each check, separate from the facts that verification needs. */
export const CHECK_TEXTS: Readonly<Record<CheckId, CheckTexts>> = {
  'export.container': {
    sentence: 'the one-file export is one unambiguous ZIP, every entry with its CRC-32',
    own: [],
    shared: [...ARCHIVE, ...READ],
  },
  'export.manifest': {
    sentence: 'manifest.json is canonical and follows its format',
    own: ['export.MANIFEST_MISSING', 'export.MANIFEST_INVALID', 'export.PARTS_EXCEEDED', 'export.EMPTY'],
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'export.expected': {
    sentence: 'the export is the one the caller expects',
    own: [
      'expect.MANIFEST_MISMATCH',
      'expect.EXPORT_MISMATCH',
      'expect.ORGANIZATION_MISMATCH',
      'expect.PROJECT_MISMATCH',
      'expect.BUNDLES_MISMATCH',
    ],
  },
  'export.resource': {
    sentence: 'export.json is well formed and agrees with manifest.json',
    own: ['export.RESOURCE_MISSING', 'export.RESOURCE_INVALID', 'export.RESOURCE_MISMATCH'],
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'export.selection': {
    sentence: 'the selection digest covers exactly the listed bundles and reports',
    own: ['export.SELECTION_MISMATCH'],
  },
  'export.attestation': {
    sentence: 'a trusted key signed the list of bundles',
    own: ['export.ATTESTATION_SUBJECT_MISMATCH'],
    shared: [
      ...FORMAT,
      ...KEY,
      'attestation.SIGNATURE_INVALID',
      'attestation.SECOND_OPINION',
      ...TEXT,
      'export.FILE_IRREGULAR',
      ...ARCHIVE,
      ...READ,
    ],
  },
  'export.files': {
    sentence: 'exactly the listed parts and reports exist, and no other file',
    own: ['part.EXTRA', 'local-report.EXTRA', 'export.FILE_UNCOVERED'],
    shared: ['export.FILE_IRREGULAR', 'io.UNREADABLE'],
  },
  'export.bag': {
    sentence:
      'the bag around the export is complete, and every file in it has the digest that the bag states',
    own: listNamespace('bag'),
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...READ],
  },
  'part.bytes': {
    sentence: 'the archive has the listed size and SHA-256',
    own: ['part.MISSING', 'part.BYTES_MISMATCH', 'part.DIGEST_MISMATCH'],
    shared: ['part.NOT_CHECKED', 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'part.archive': {
    sentence: 'the archive is one unambiguous ZIP, every byte accounted for',
    own: [],
    shared: [...ARCHIVE, ...READ],
  },
  'bundle.manifest': {
    sentence: 'manifest.json is canonical and follows its format',
    own: ['bundle.MANIFEST_MISSING', 'bundle.MANIFEST_INVALID', 'bundle.OBJECTS_EXCEEDED'],
    shared: [...TEXT, ...ARCHIVE, ...READ],
  },
  'bundle.row': {
    sentence: 'the bundle is the one that the export manifest lists',
    own: ['part.ROW_MISMATCH'],
  },
  'bundle.expected': {
    sentence: 'the bundle belongs to the organization and project that the caller expects',
    own: [],
    shared: ['expect.MANIFEST_MISMATCH', 'expect.ORGANIZATION_MISMATCH', 'expect.PROJECT_MISMATCH'],
  },
  'bundle.objects': {
    sentence: 'exactly the listed objects exist, with their sizes and SHA-256',
    own: [
      'object.MISSING',
      'object.EXTRA',
      'object.BYTES_MISMATCH',
      'object.DIGEST_MISMATCH',
      'bundle.RUN_RESULT_INVALID',
      'run.WORLD_INCONSISTENT',
      'run.BINDING_PARTIAL',
      'run.ASSERTION_FAILED',
      'run.CHECKPOINT_FAILED',
      'run.BUDGET_EXCEEDED',
    ],
    shared: [...TEXT, ...ARCHIVE, ...READ],
  },
  'dsse.envelope': {
    sentence: 'the envelope is DSSE with an in-toto statement, and one of its signatures names the signer',
    own: [
      'dsse.INVALID',
      'dsse.SIGNATURES_EXCEEDED',
      'dsse.PAYLOAD_TYPE_UNSUPPORTED',
      'dsse.STATEMENT_INVALID',
    ],
    shared: ['dsse.KEYID_MISMATCH', 'dsse.SUBJECT_MISMATCH', ...FORMAT, ...TEXT, ...READ],
  },
  'attestation.format': {
    sentence: 'the attestation is canonical, follows its format and is of the right type',
    own: FORMAT,
    shared: [...TEXT, ...ARCHIVE, ...READ],
  },
  'attestation.key': {
    sentence: 'the trust store has a key that is valid for the statement',
    own: KEY,
  },
  'attestation.signature': {
    sentence: 'the signature verifies over the statement with that key',
    own: ['attestation.SIGNATURE_INVALID'],
  },
  'attestation.binding': {
    sentence: 'everything that the statement names matches the evidence',
    own: ['attestation.SUBJECT_MISMATCH', 'bundle.BINDING_MISMATCH', 'run.AFTER_SIGNATURE'],
    shared: ['bundle.MANIFEST_INVALID', 'export.ATTESTATION_SUBJECT_MISMATCH'],
  },
  'dsse.threshold': {
    sentence: 'enough different trusted keys signed the envelope',
    own: ['dsse.THRESHOLD_MISSED'],
    shared: ['dsse.SIGNATURE_UNCOUNTED', ...KEY],
  },
  'dsse.attestation': {
    sentence: 'trusted keys signed the given envelopes, and these match the evidence',
    own: ['dsse.SUBJECT_MISMATCH', 'dsse.SUBJECT_UNKNOWN'],
    shared: listNamespace('dsse').filter((code) => !code.startsWith('dsse.SUBJECT_')),
  },
  'timestamp.token': {
    sentence:
      'every timestamp token that was given is sound, is about the evidence, and is of a trusted authority',
    own: [
      'timestamp.INVALID',
      'timestamp.ALGORITHM_REFUSED',
      'timestamp.SIGNATURE_INVALID',
      'timestamp.CERTIFICATE_INVALID',
      'timestamp.CHAIN_INVALID',
      'timestamp.AUTHORITY_UNKNOWN',
      'timestamp.AUTHORITY_REVOKED',
      'timestamp.IN_FUTURE',
      'timestamp.NOT_CHECKED',
      'timestamp.SUBJECT_UNKNOWN',
    ],
  },
  'second.reader': {
    sentence: 'a second ZIP reader sees the same entries and bytes',
    own: ['zip.SECOND_OPINION'],
    shared: [...ARCHIVE, ...READ],
  },
  'second.crypto': {
    sentence: 'a second implementation agrees about the signature',
    own: ['attestation.SECOND_OPINION'],
  },
  'local-report.bytes': {
    sentence: 'the archive has the listed size and SHA-256',
    own: ['local-report.MISSING', 'local-report.BYTES_MISMATCH', 'local-report.DIGEST_MISMATCH'],
    shared: ['export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'tool-source.format': {
    sentence: 'the document is a tool source resource of well-formed text within 1 MiB',
    own: ['tool-source.INVALID', 'tool-source.TOO_LARGE'],
    shared: TEXT,
  },
  'tool-source.bytes': {
    sentence: 'the source has the size and SHA-256 that the resource states',
    own: ['tool-source.BYTES_MISMATCH', 'tool-source.DIGEST_MISMATCH'],
  },
  'tool-source.expected': {
    sentence: 'the source is of the project, build and package that the caller expects',
    own: ['tool-source.SUBJECT_MISMATCH'],
  },
  'tool-source.lock': {
    sentence: 'every field agrees with the lock that the caller trusts',
    own: ['tool-source.LOCK_INVALID', 'tool-source.LOCK_MISMATCH', 'tool-source.PACKAGE_UNLOCKED'],
  },
};

/** All codes that a check can give. */
export const codesOf = (check: CheckId): readonly Code[] => {
  const { own: codes, shared = [] } = CHECK_TEXTS[check];
  return [...codes, ...shared];
};

/** The checks that can give a code, in the order in which they run; none for facts that belong to no check. */
export const checksOf = (code: Code): readonly CheckId[] =>
  CHECK_IDS.filter((check) => codesOf(check).includes(code));
