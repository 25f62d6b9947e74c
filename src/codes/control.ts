import type { CodeClass, CodeEntry } from './entry.ts';

const clause = 'control API, Errors; docs/control-api.md, Errors';
const row = <const C extends CodeClass>(codeClass: C, meaning: string, action: string) =>
  ({ class: codeClass, severity: 'error', meaning, action, clause }) as const;

/** Codes that the control plane answers with, in its error envelope. */
export const controlCodes = {
  'control.REQUEST_INVALID': row(
    'usage',
    'The request breaks a rule of the operation.',
    'Correct the request as the issues in the response describe.',
  ),
  'control.CURSOR_INVALID': row(
    'usage',
    'The cursor belongs to another list or was changed.',
    'Start again from the first page.',
  ),
  'control.IDEMPOTENCY_KEY_REQUIRED': row(
    'usage',
    'A request that changes something has no Idempotency-Key header.',
    'Send an Idempotency-Key, and reuse it only for a retry.',
  ),
  'control.UNAUTHENTICATED': row(
    'refused',
    'The token is missing, unknown, expired or revoked.',
    'Set a valid token in DRILLPROOF_TOKEN or with --token-file.',
  ),
  'control.PERMISSION_DENIED': row(
    'refused',
    'The token lacks the permission for the operation.',
    'Ask the operator for a token with the permission named in the message.',
  ),
  'control.ENTITLEMENT_EXCEEDED': row(
    'refused',
    'The request exceeds an entitlement of the organization.',
    'Request less, or ask the operator to raise the entitlement.',
  ),
  'control.NOT_FOUND': row(
    'missing',
    'The resource does not exist, or the token may not see it.',
    'Check the ids and the project.',
  ),
  'control.METHOD_NOT_ALLOWED': row(
    'usage',
    'The path does not support this method.',
    'Use a method that the Allow header lists.',
  ),
  'control.LEASE_GENERATION_MISMATCH': row(
    'refused',
    'The lease generation of the session does not match the request.',
    'Read the session again and use its current lease generation.',
  ),
  'control.VERSION_MISMATCH': row(
    'refused',
    'The version of the resource does not match the request.',
    'Read the resource again and use its current version.',
  ),
  'control.SESSION_NOT_READY': row(
    'refused',
    'The session is not in state ready.',
    'Wait until the session is ready.',
  ),
  'control.SESSION_EXPIRED': row(
    'refused',
    'The session has expired, and an expired session cannot be extended.',
    'Create a new session.',
  ),
  'control.LIFETIME_NOT_LATER': row(
    'refused',
    'The new deadline is not later than the current deadline.',
    'Request a longer lifetime.',
  ),
  'control.AUTHORING_SESSION_NOT_ACTIVE': row(
    'refused',
    'The authoring session is closed.',
    'Open a new authoring session.',
  ),
  'control.RUN_NOT_TERMINAL': row('refused', 'The run has not ended.', 'Wait until the run ends.'),
  'control.EXPORT_FAILED': row(
    'missing',
    'The export could not be generated, so it has no bytes.',
    'Request a new export.',
  ),
  'control.BUILD_NOT_AVAILABLE': row(
    'missing',
    'The build has no archive that can be read.',
    'Upload the build.',
  ),
  'control.EXPORT_NOT_READY': row('inaccessible', 'The export is still being generated.', 'Try again later.'),
  'control.IDEMPOTENCY_KEY_IN_USE': row(
    'inaccessible',
    'A request with this idempotency key is in progress.',
    'Try again later with the same key.',
  ),
  'control.AUTHORING_TURN_ACTIVE': row(
    'inaccessible',
    'Another turn of the authoring session is not finished.',
    'Try again when the turn has ended.',
  ),
  'control.EVIDENCE_DELETED': row('missing', 'The evidence was deleted.', 'Use a mirror if you have one.'),
  'control.UPLOAD_EXPIRED': row('refused', 'The upload address has expired.', 'Start a new upload.'),
  'control.PAYLOAD_TOO_LARGE': row('limit', 'The body is larger than the limit.', 'Send a smaller body.'),
  'control.UNSUPPORTED_MEDIA_TYPE': row(
    'usage',
    'The operation does not accept the media type of the body.',
    'Send application/json.',
  ),
  'control.RANGE_NOT_SATISFIABLE': row(
    'usage',
    'The range is outside the bytes of the file.',
    'Request a range within the size in Content-Range.',
  ),
  'control.IDEMPOTENCY_KEY_REUSED': row(
    'refused',
    'The idempotency key was used for a different request.',
    'Use a new key for a new request.',
  ),
  'control.UPLOAD_MISMATCH': row(
    'mismatch',
    'The digest or the size of the upload does not match what was announced.',
    'Upload the announced bytes.',
  ),
  'control.TOOL_SOURCE_TOO_LARGE': row(
    'limit',
    'The tool source is larger than 1 MiB and is never truncated.',
    'Read the source from the build archive.',
  ),
  'control.RATE_LIMITED': row(
    'inaccessible',
    'The client sent too many requests.',
    'Wait for the time in the Retry-After header.',
  ),
  'control.INTERNAL': row(
    'inaccessible',
    'The control plane failed.',
    'Try again, and give the correlation id to the operator if it fails again.',
  ),
  'control.STORED_BYTES_CORRUPT': row(
    'inaccessible',
    'The stored bytes do not match their digest and were not served.',
    'Report it to the operator, and use a mirror if you have one.',
  ),
  'control.NOT_IMPLEMENTED': row(
    'unsupported',
    'This control plane does not implement the operation.',
    'Ask the operator.',
  ),
  'control.UNAVAILABLE': row(
    'inaccessible',
    'The control plane is temporarily unavailable.',
    'Try again later.',
  ),
  'control.REQUEST_TIMEOUT': row(
    'inaccessible',
    'The request took too long to arrive.',
    'Send the request again.',
  ),
  'control.HEADERS_TOO_LARGE': row(
    'limit',
    'The request headers are larger than the limit.',
    'Send fewer or shorter headers.',
  ),
  'control.EXPECTATION_FAILED': row(
    'usage',
    'The Expect header names an expectation that is not supported.',
    'Remove the Expect header.',
  ),
  'control.EXPORT_GENERATION_FAILED': row(
    'inaccessible',
    'The export failed while it was being generated.',
    'Request the export again.',
  ),
  'control.EXPORT_SOURCE_MISSING': row(
    'missing',
    'Evidence that was selected for the export no longer exists.',
    'Request a new export.',
  ),
  'control.EXPORT_TOO_LARGE': row(
    'limit',
    'The selection is larger than the limit of an export.',
    'Choose a shorter time window.',
  ),
  'control.RUNNER_FAILED': row(
    'inaccessible',
    'The runner that does the work failed.',
    'Start the work again, and give the operation id to the operator if it fails again.',
  ),
  'control.RUNNER_LOST': row(
    'inaccessible',
    'Several workers in a row ended before they finished the work.',
    'Give the operation id to the operator; the work probably crashes the workers.',
  ),
  'control.DEADLINE_EXCEEDED': row(
    'refused',
    'The work did not finish before its deadline.',
    'Start the work again with a longer timeout.',
  ),
  'build.ARCHIVE_INVALID': row(
    'malformed',
    'The build archive breaks a rule of its format.',
    'Pack the build again.',
  ),
  'build.HASH_MISMATCH': row(
    'mismatch',
    'The build archive does not match the announced build hash.',
    'Upload the announced build.',
  ),
  'build.PACKAGE_INVALID': row(
    'malformed',
    'A package of the build does not match its row in the lock.',
    'Pack the build again.',
  ),
  'build.ENVIRONMENT_VERSION_MISMATCH': row(
    'mismatch',
    'The environment that the build should advance is missing or has a different version.',
    'Read the environment and upload the build again.',
  ),
} as const satisfies Readonly<Record<string, CodeEntry>>;
