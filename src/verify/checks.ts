import { catalogue, type Code } from '../codes/index.ts';

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

/** What the caller gave beyond the evidence and a trust store. */
type Requested = { readonly envelopes?: boolean; readonly secondOpinion?: boolean };

/** What a report is about. */
export type CheckSubject = 'export' | 'bundle' | 'local-report' | 'attestation' | 'tool-source';

/**
 * `always`; at depth `full` only; for `verified`, where evidence is at best intact without it; or as a second `opinion`,
 * which must not stay open once it was requested.
 */
type Required = 'always' | 'full' | 'verified' | 'opinion';

export type CheckRow = {
  /** What a pass states. */
  readonly sentence: string;
  /** Codes by which this check is known. */
  readonly own: readonly Code[];
  /** Codes of what it reads, which many checks share. */
  readonly shared: readonly Code[];
  /** The reports that it appears in. */
  readonly of: readonly CheckSubject[];
  /** When the verdict depends on it; absent: only its findings count. */
  readonly required?: Required;
  /** It runs only when the caller gives this. */
  readonly onRequest?: keyof Requested;
  /** It cannot run without one of these. */
  readonly after?: readonly string[];
};

const ROWS = {
  'export.container': {
    sentence: 'the one-file export is one unambiguous ZIP, every entry with its CRC-32',
    own: [],
    shared: [...ARCHIVE, ...READ],
    of: ['export'],
    required: 'always',
  },
  'export.manifest': {
    sentence: 'manifest.json is canonical and follows its format',
    own: ['export.MANIFEST_MISSING', 'export.MANIFEST_INVALID', 'export.PARTS_EXCEEDED', 'export.EMPTY'],
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
    of: ['export'],
    required: 'always',
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
    shared: [],
    of: ['export'],
    required: 'always',
    after: ['export.manifest'],
  },
  'export.resource': {
    sentence: 'export.json is well formed and agrees with manifest.json',
    own: ['export.RESOURCE_MISSING', 'export.RESOURCE_INVALID', 'export.RESOURCE_MISMATCH'],
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
    of: ['export'],
    required: 'always',
    after: ['export.manifest'],
  },
  'export.selection': {
    sentence: 'the selection digest covers exactly the listed bundles and reports',
    own: ['export.SELECTION_MISMATCH'],
    shared: [],
    of: ['export'],
    required: 'always',
    after: ['export.manifest'],
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
    of: ['export'],
    after: ['export.manifest'],
  },
  'export.files': {
    sentence: 'exactly the listed parts and reports exist',
    own: ['part.EXTRA', 'local-report.EXTRA', 'export.FILE_UNCOVERED'],
    shared: ['export.FILE_IRREGULAR', 'io.UNREADABLE'],
    of: ['export'],
    required: 'always',
    after: ['export.manifest'],
  },
  'export.bag': {
    sentence:
      'the bag around the export is complete, and every file in it has the digest that the bag states',
    own: namespace('bag'),
    shared: [...TEXT, 'export.FILE_IRREGULAR', ...READ],
    of: ['export'],
    required: 'always',
  },
  'part.bytes': {
    sentence: 'the archive has the listed size and SHA-256',
    own: ['part.MISSING', 'part.BYTES_MISMATCH', 'part.DIGEST_MISMATCH'],
    shared: ['part.NOT_CHECKED', 'export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
    of: ['bundle'],
    required: 'always',
  },
  'part.archive': {
    sentence: 'the archive is one unambiguous ZIP, every byte accounted for',
    own: [],
    shared: [...ARCHIVE, ...READ],
    of: ['bundle'],
    required: 'full',
    after: ['part.bytes'],
  },
  'bundle.manifest': {
    sentence: 'manifest.json is canonical and follows its format',
    own: ['bundle.MANIFEST_MISSING', 'bundle.MANIFEST_INVALID', 'bundle.OBJECTS_EXCEEDED'],
    shared: [...TEXT, ...ARCHIVE, ...READ],
    of: ['bundle'],
    required: 'full',
    after: ['part.archive'],
  },
  'bundle.row': {
    sentence: 'the bundle is the one that the export manifest lists',
    own: ['part.ROW_MISMATCH'],
    shared: [],
    of: ['bundle'],
    required: 'full',
    after: ['bundle.manifest'],
  },
  'bundle.expected': {
    sentence: 'the bundle belongs to the organization and project that the caller expects',
    own: [],
    shared: ['expect.MANIFEST_MISMATCH', 'expect.ORGANIZATION_MISMATCH', 'expect.PROJECT_MISMATCH'],
    of: ['bundle'],
    required: 'always',
    after: ['bundle.manifest'],
  },
  'bundle.objects': {
    sentence: 'exactly the listed objects exist, with their sizes and SHA-256',
    own: [
      'object.MISSING',
      'object.EXTRA',
      'object.BYTES_MISMATCH',
      'object.DIGEST_MISMATCH',
      'bundle.RUN_RESULT_INVALID',
    ],
    shared: [...TEXT, ...ARCHIVE, ...READ],
    of: ['bundle'],
    required: 'full',
    after: ['bundle.manifest'],
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
    of: ['attestation'],
  },
  'attestation.format': {
    sentence: 'the attestation is canonical, follows its format and is of the right type',
    own: FORMAT,
    shared: [...TEXT, ...ARCHIVE, ...READ],
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['bundle.manifest', 'dsse.envelope'],
  },
  'attestation.key': {
    sentence: 'the trust store has a key that is valid for the statement',
    own: KEY,
    shared: [],
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['attestation.format'],
  },
  'attestation.signature': {
    sentence: 'the signature verifies over the statement with that key',
    own: ['attestation.SIGNATURE_INVALID'],
    shared: [],
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['attestation.key'],
  },
  'attestation.binding': {
    sentence: 'everything that the statement names matches the evidence',
    own: ['attestation.SUBJECT_MISMATCH', 'bundle.BINDING_MISMATCH'],
    shared: ['bundle.MANIFEST_INVALID', 'export.ATTESTATION_SUBJECT_MISMATCH'],
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['attestation.format'],
  },
  'dsse.threshold': {
    sentence: 'enough different trusted keys signed the envelope',
    own: ['dsse.THRESHOLD_MISSED'],
    shared: ['dsse.SIGNATURE_UNCOUNTED', ...KEY],
    of: ['attestation'],
    after: ['dsse.envelope'],
  },
  'dsse.attestation': {
    sentence: 'trusted keys signed the given envelopes, and these match the evidence',
    own: ['dsse.SUBJECT_MISMATCH', 'dsse.SUBJECT_UNKNOWN'],
    shared: namespace('dsse').filter((code) => !code.startsWith('dsse.SUBJECT_')),
    of: ['export', 'bundle'],
    onRequest: 'envelopes',
    after: ['export.manifest', 'bundle.manifest'],
  },
  'second.reader': {
    sentence: 'a second ZIP reader sees the same entries and bytes',
    own: ['zip.SECOND_OPINION'],
    shared: [...ARCHIVE, ...READ],
    of: ['export', 'bundle'],
    required: 'opinion',
    onRequest: 'secondOpinion',
    after: ['bundle.manifest'],
  },
  'second.crypto': {
    sentence: 'a second implementation agrees about the signature',
    own: ['attestation.SECOND_OPINION'],
    shared: [],
    of: ['bundle', 'attestation'],
    required: 'opinion',
    onRequest: 'secondOpinion',
    after: ['attestation.format'],
  },
  'local-report.bytes': {
    sentence: 'the archive has the listed size and SHA-256',
    own: ['local-report.MISSING', 'local-report.BYTES_MISMATCH', 'local-report.DIGEST_MISMATCH'],
    shared: ['export.FILE_IRREGULAR', ...ARCHIVE, ...READ],
    of: ['local-report'],
    required: 'always',
  },
  'tool-source.format': {
    sentence: 'the document is a tool source resource of well-formed text within 1 MiB',
    own: ['tool-source.INVALID', 'tool-source.TOO_LARGE'],
    shared: TEXT,
    of: ['tool-source'],
    required: 'always',
  },
  'tool-source.bytes': {
    sentence: 'the source has the size and SHA-256 that the resource states',
    own: ['tool-source.BYTES_MISMATCH', 'tool-source.DIGEST_MISMATCH'],
    shared: [],
    of: ['tool-source'],
    required: 'always',
    after: ['tool-source.format'],
  },
  'tool-source.lock': {
    sentence: 'every field agrees with the lock that the caller trusts',
    own: ['tool-source.LOCK_INVALID', 'tool-source.LOCK_MISMATCH', 'tool-source.PACKAGE_UNLOCKED'],
    shared: [],
    of: ['tool-source'],
    after: ['tool-source.format'],
  },
} as const satisfies Readonly<Record<string, CheckRow>>;

/** The id of a check, such as `part.bytes` (docs/codes.md). */
export type CheckId = keyof typeof ROWS;

/** Every check, in the order in which it runs and is shown. A new check is a row here and a function. */
export const CHECKS: Readonly<Record<CheckId, CheckRow>> = ROWS;

const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];

/** Whether a string is a check; own members only. */
export const isCheckId = (value: string): value is CheckId => Object.hasOwn(CHECKS, value);

/** All codes that a check can give. */
export const codesOf = (check: CheckId): readonly Code[] => {
  const { own, shared } = CHECKS[check];
  return [...own, ...shared];
};

/** The checks that can give a code, in the order in which they run; none for facts next to the checks. */
export const checksOf = (code: Code): readonly CheckId[] =>
  CHECK_IDS.filter((check) => codesOf(check).includes(code));

/** The checks that the verdict on a subject requires for a reason. */
export const requiredChecks = (subject: CheckSubject, ...reasons: readonly Required[]): readonly CheckId[] =>
  CHECK_IDS.filter((id) => {
    const { of, required } = CHECKS[id];
    return of.includes(subject) && required !== undefined && reasons.includes(required);
  });

/**
 * The checks that cannot run without a check, directly or through others, in order. Checks on request are among them
 * only if they were requested.
 */
export function checksWaitingFor(check: CheckId, requested: Requested = {}): readonly CheckId[] {
  const waiting = new Set<string>([check]);
  // Every check is below those that it waits for, so one pass is enough.
  for (const id of CHECK_IDS) if (CHECKS[id].after?.some((before) => waiting.has(before))) waiting.add(id);
  waiting.delete(check);
  return CHECK_IDS.filter((id) => {
    const { onRequest } = CHECKS[id];
    return waiting.has(id) && (onRequest === undefined || requested[onRequest] === true);
  });
}
