/** Optional inputs of the caller that add checks. */
type Requested = { readonly envelopes?: boolean; readonly secondOpinion?: boolean };

export type CheckSubject = 'export' | 'bundle' | 'local-report' | 'attestation' | 'tool-source';

/**
 * The verdict depends on a check `always`, only at depth `full`, only to be `verified` instead of intact, or, as a
 * second `opinion`, only if it was requested.
 */
type Required = 'always' | 'full' | 'verified' | 'opinion';

export type CheckRow = {
  /** The reports that it appears in. */
  readonly of: readonly CheckSubject[];
  /** Absent: only its findings count. */
  readonly required?: Required;
  /** It runs only with this input. */
  readonly onRequest?: keyof Requested;
  /** It cannot run without one of these. */
  readonly after?: readonly string[];
};

const ROWS = {
  'export.container': { of: ['export'], required: 'always' },
  'export.manifest': { of: ['export'], required: 'always' },
  'export.expected': { of: ['export'], required: 'always', after: ['export.manifest'] },
  'export.resource': { of: ['export'], required: 'always', after: ['export.manifest'] },
  'export.selection': { of: ['export'], required: 'always', after: ['export.manifest'] },
  'export.attestation': { of: ['export'], after: ['export.manifest'] },
  'export.files': { of: ['export'], required: 'always', after: ['export.manifest'] },
  'export.bag': { of: ['export'], required: 'always' },
  'part.bytes': { of: ['bundle'], required: 'always' },
  'part.archive': { of: ['bundle'], required: 'full', after: ['part.bytes'] },
  'bundle.manifest': { of: ['bundle'], required: 'full', after: ['part.archive'] },
  'bundle.row': { of: ['bundle'], required: 'full', after: ['bundle.manifest'] },
  'bundle.expected': { of: ['bundle'], required: 'always', after: ['bundle.manifest'] },
  'bundle.objects': { of: ['bundle'], required: 'full', after: ['bundle.manifest'] },
  'dsse.envelope': { of: ['attestation'] },
  'attestation.format': {
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['bundle.manifest', 'dsse.envelope'],
  },
  'attestation.key': { of: ['bundle', 'attestation'], required: 'verified', after: ['attestation.format'] },
  'attestation.signature': {
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['attestation.key'],
  },
  'attestation.binding': {
    of: ['bundle', 'attestation'],
    required: 'verified',
    after: ['attestation.format'],
  },
  'dsse.threshold': { of: ['attestation'], after: ['dsse.envelope'] },
  'dsse.attestation': {
    of: ['export', 'bundle'],
    onRequest: 'envelopes',
    after: ['export.manifest', 'bundle.manifest'],
  },
  'second.reader': {
    of: ['export', 'bundle'],
    required: 'opinion',
    onRequest: 'secondOpinion',
    after: ['bundle.manifest'],
  },
  'second.crypto': {
    of: ['bundle', 'attestation'],
    required: 'opinion',
    onRequest: 'secondOpinion',
    after: ['attestation.format'],
  },
  'timestamp.token': { of: ['export', 'bundle', 'attestation'] },
  'local-report.bytes': { of: ['local-report'], required: 'always' },
  'tool-source.format': { of: ['tool-source'], required: 'always' },
  'tool-source.bytes': { of: ['tool-source'], required: 'always', after: ['tool-source.format'] },
  'tool-source.expected': { of: ['tool-source'], required: 'always', after: ['tool-source.format'] },
  'tool-source.lock': { of: ['tool-source'], after: ['tool-source.format'] },
} as const satisfies Readonly<Record<string, CheckRow>>;

/** The id of a check, such as `part.bytes` (docs/codes.md). */
export type CheckId = keyof typeof ROWS;

/** Every check, in the order in which it runs and is shown. A new check is a row here and in `CHECK_TEXTS`, and a function. */
export const CHECKS: Readonly<Record<CheckId, CheckRow>> = ROWS;

export const CHECK_IDS = Object.keys(CHECKS) as readonly CheckId[];

export const isCheckId = (value: string): value is CheckId => Object.hasOwn(CHECKS, value);

/** The checks that the verdict on a subject requires for a reason. */
export const listRequiredChecks = (
  subject: CheckSubject,
  ...reasons: readonly Required[]
): readonly CheckId[] =>
  CHECK_IDS.filter((id) => {
    const { of: subjects, required } = CHECKS[id];
    return subjects.includes(subject) && required !== undefined && reasons.includes(required);
  });

/**
 * The checks that cannot run without a check, directly or through others, in order. Checks on request are only included
 * if they were requested.
 */
export function listWaitingChecks(check: CheckId, requested: Requested = {}): readonly CheckId[] {
  const waiting = new Set<string>([check]);
  // Every check is below those that it waits for, so one pass is enough.
  for (const id of CHECK_IDS) if (CHECKS[id].after?.some((before) => waiting.has(before))) waiting.add(id);
  waiting.delete(check);
  return CHECK_IDS.filter((id) => {
    const { onRequest } = CHECKS[id];
    return waiting.has(id) && (onRequest === undefined || requested[onRequest] === true);
  });
}
