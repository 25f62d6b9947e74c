import { catalogue, type Code } from '../codes/index.ts';
import { CHECKS, type CheckId } from './check.ts';

const ALL = Object.keys(catalogue) as readonly Code[];
const namespace = (name: string): readonly Code[] => ALL.filter((code) => code.startsWith(`${name}.`));

/** What reading any bytes can come to; it leaves a check open and never fails it. */
const READ: readonly Code[] = ['io.NOT_FOUND', 'io.UNREADABLE', 'io.CHANGED', 'io.KIND'];
const TEXT: readonly Code[] = ['encoding.UTF8_INVALID', ...namespace('json')];
const ARCHIVE: readonly Code[] = namespace('zip').filter((code) => code !== 'zip.SECOND_OPINION');
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
];
const FORMAT: readonly Code[] = [
  'attestation.INVALID',
  'attestation.ISSUED_IN_FUTURE',
  'attestation.PREDICATE_UNSUPPORTED',
  'attestation.SIGNATURE_ENCODING',
];

type Row = {
  /** Codes by which this check is known. */
  readonly own: readonly Code[];
  /** Codes of what it reads, which many checks share. */
  readonly shared: readonly Code[];
};

/** Every code that a check can give, warnings and what leaves it open included. */
export const CHECK_CODES: Readonly<Record<CheckId, Row>> = {
  'export.container': { own: [], shared: [...ARCHIVE, ...READ] },
  'export.bag': { own: namespace('bag'), shared: [...TEXT, 'export.FILE_IRREGULAR', ...READ] },
  'export.manifest': {
    own: ['export.MANIFEST_MISSING', 'export.MANIFEST_INVALID', 'export.PARTS_EXCEEDED', 'export.EMPTY'],
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'export.expected': {
    own: [
      'expect.MANIFEST_MISMATCH',
      'expect.EXPORT_MISMATCH',
      'expect.ORGANIZATION_MISMATCH',
      'expect.PROJECT_MISMATCH',
      'expect.BUNDLES_MISMATCH',
    ],
    shared: [],
  },
  'export.resource': {
    own: ['export.RESOURCE_MISSING', 'export.RESOURCE_INVALID', 'export.RESOURCE_MISMATCH'],
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'export.selection': { own: ['export.SELECTION_MISMATCH'], shared: [] },
  'export.attestation': {
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
    own: ['part.EXTRA', 'local-report.EXTRA', 'export.FILE_UNCOVERED'],
    shared: ['export.FILE_IRREGULAR', 'io.UNREADABLE'],
  },
  'part.bytes': {
    own: ['part.MISSING', 'part.BYTES_MISMATCH', 'part.DIGEST_MISMATCH'],
    shared: ['part.NOT_CHECKED', 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'part.archive': { own: [], shared: [...ARCHIVE, ...READ] },
  'bundle.manifest': {
    own: ['bundle.MANIFEST_MISSING', 'bundle.MANIFEST_INVALID', 'bundle.OBJECTS_EXCEEDED'],
    shared: [...TEXT, ...ARCHIVE, ...READ],
  },
  'bundle.row': { own: ['part.ROW_MISMATCH'], shared: [] },
  'bundle.expected': {
    own: [],
    shared: ['expect.MANIFEST_MISMATCH', 'expect.ORGANIZATION_MISMATCH', 'expect.PROJECT_MISMATCH'],
  },
  'bundle.objects': {
    own: [
      'object.MISSING',
      'object.EXTRA',
      'object.BYTES_MISMATCH',
      'object.DIGEST_MISMATCH',
      'bundle.RUN_RESULT_INVALID',
    ],
    shared: [...TEXT, ...ARCHIVE, ...READ],
  },
  'attestation.format': { own: FORMAT, shared: [...TEXT, ...ARCHIVE, ...READ] },
  'attestation.key': { own: KEY, shared: [] },
  'attestation.signature': { own: ['attestation.SIGNATURE_INVALID'], shared: [] },
  'attestation.binding': {
    own: ['attestation.SUBJECT_MISMATCH', 'bundle.BINDING_MISMATCH'],
    shared: ['bundle.MANIFEST_INVALID', 'export.ATTESTATION_SUBJECT_MISMATCH'],
  },
  'dsse.envelope': {
    own: [
      'dsse.INVALID',
      'dsse.SIGNATURES_EXCEEDED',
      'dsse.PAYLOAD_TYPE_UNSUPPORTED',
      'dsse.STATEMENT_INVALID',
    ],
    shared: ['dsse.KEYID_MISMATCH', 'dsse.SUBJECT_MISMATCH', ...FORMAT, ...TEXT, ...READ],
  },
  'dsse.threshold': { own: ['dsse.THRESHOLD_MISSED'], shared: ['dsse.SIGNATURE_UNCOUNTED', ...KEY] },
  'dsse.attestation': {
    own: ['dsse.SUBJECT_MISMATCH', 'dsse.SUBJECT_UNKNOWN'],
    shared: namespace('dsse').filter((code) => !code.startsWith('dsse.SUBJECT_')),
  },
  'second.reader': { own: ['zip.SECOND_OPINION'], shared: [...ARCHIVE, ...READ] },
  'second.crypto': { own: ['attestation.SECOND_OPINION'], shared: [] },
  'local-report.bytes': {
    own: ['local-report.MISSING', 'local-report.BYTES_MISMATCH', 'local-report.DIGEST_MISMATCH'],
    shared: ['export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
  },
  'tool-source.format': {
    own: ['tool-source.INVALID', 'tool-source.TOO_LARGE'],
    shared: TEXT,
  },
  'tool-source.bytes': { own: ['tool-source.BYTES_MISMATCH', 'tool-source.DIGEST_MISMATCH'], shared: [] },
  'tool-source.lock': {
    own: ['tool-source.LOCK_INVALID', 'tool-source.LOCK_MISMATCH', 'tool-source.PACKAGE_UNLOCKED'],
    shared: [],
  },
};

const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];

/** Whether a string is a check; own members only. */
export const isCheckId = (value: string): value is CheckId => Object.hasOwn(CHECKS, value);

/** All codes that a check can give. */
export const codesOf = (check: CheckId): readonly Code[] => {
  const { own, shared } = CHECK_CODES[check];
  return [...own, ...shared];
};

/** The checks that can give a code, in the order in which they run; none for facts beside the checks. */
export const checksOf = (code: Code): readonly CheckId[] =>
  CHECK_IDS.filter((check) => codesOf(check).includes(code));
