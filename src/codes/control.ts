import type { CodeClass, CodeEntry } from './entry.ts';

const clause = 'control API, Errors; docs/control-api.md, Errors';
const row = <const C extends CodeClass>(codeClass: C, meaning: string, action: string) =>
  ({ class: codeClass, severity: 'error', meaning, action, clause }) as const;

/** Codes that the control plane answers with, in its error envelope. */
export const controlCodes = {
  'control.REQUEST_INVALID': row(
    'usage',
    'The request breaks a rule of the operation.',
    'See the issues in the answer.',
  ),
  'control.CURSOR_INVALID': row(
    'usage',
    'The cursor was not made for this list, or was changed.',
    'Start again from the first page.',
  ),
  'control.IDEMPOTENCY_KEY_REQUIRED': row(
    'usage',
    'A request that changes something came without an Idempotency-Key.',
    'Send one; reuse it only for a retry.',
  ),
  'control.UNAUTHENTICATED': row(
    'refused',
    'The token is absent, unknown, expired or revoked.',
    'Set a valid token in DRILLPROOF_TOKEN or with --token-file.',
  ),
  'control.PERMISSION_DENIED': row(
    'refused',
    'The token lacks the permission for the operation.',
    'Ask the operator for a token with the permission named.',
  ),
  'control.ENTITLEMENT_EXCEEDED': row(
    'refused',
    'The request goes beyond what the organization may use.',
    'Ask for less, or have the entitlement raised.',
  ),
  'control.NOT_FOUND': row(
    'missing',
    'There is no such resource that the token may see.',
    'Check the ids and the project.',
  ),
  'control.METHOD_NOT_ALLOWED': row('usage', 'The path does not take this method.', 'See the Allow header.'),
  'control.LEASE_GENERATION_MISMATCH': row(
    'refused',
    'The session has another lease generation.',
    'Read the session again.',
  ),
  'control.VERSION_MISMATCH': row('refused', 'The resource has another version.', 'Read the resource again.'),
  'control.SESSION_NOT_READY': row(
    'refused',
    'The session is not in state ready.',
    'Wait until it is ready.',
  ),
  'control.SESSION_EXPIRED': row(
    'refused',
    'The session has expired and is never revived.',
    'Create a new session.',
  ),
  'control.LIFETIME_NOT_LATER': row(
    'refused',
    'The new deadline is not later than the present one.',
    'Ask for a longer lifetime.',
  ),
  'control.AUTHORING_SESSION_NOT_ACTIVE': row(
    'refused',
    'The authoring session is closed.',
    'Open a new authoring session.',
  ),
  'control.RUN_NOT_TERMINAL': row('refused', 'The run has not ended.', 'Wait until it ends.'),
  'control.EXPORT_FAILED': row(
    'missing',
    'The export failed to generate, so it has no bytes.',
    'Request a new export.',
  ),
  'control.BUILD_NOT_AVAILABLE': row(
    'missing',
    'The build has no archive that could be read.',
    'Upload the build.',
  ),
  'control.EXPORT_NOT_READY': row('inaccessible', 'The export is still being generated.', 'Try again later.'),
  'control.IDEMPOTENCY_KEY_IN_USE': row(
    'inaccessible',
    'A request with this key is in progress.',
    'Try again later with the same key.',
  ),
  'control.AUTHORING_TURN_ACTIVE': row(
    'inaccessible',
    'Another turn of the session is unfinished.',
    'Try again when it ends.',
  ),
  'control.EVIDENCE_DELETED': row('missing', 'The evidence was deleted.', 'Use a mirror, if there is one.'),
  'control.UPLOAD_EXPIRED': row('refused', 'The upload address has expired.', 'Begin a new upload.'),
  'control.PAYLOAD_TOO_LARGE': row('limit', 'The body is larger than the limit.', 'Send less.'),
  'control.UNSUPPORTED_MEDIA_TYPE': row(
    'usage',
    'The body is of another media type than the operation takes.',
    'Send application/json.',
  ),
  'control.RANGE_NOT_SATISFIABLE': row(
    'usage',
    'The range lies outside the bytes there are.',
    'Ask for a range within Content-Range.',
  ),
  'control.IDEMPOTENCY_KEY_REUSED': row(
    'refused',
    'The key was used for another request.',
    'Use a new key for a new request.',
  ),
  'control.UPLOAD_MISMATCH': row(
    'mismatch',
    'The upload has another digest or size than announced.',
    'Send the announced bytes.',
  ),
  'control.TOOL_SOURCE_TOO_LARGE': row(
    'limit',
    'The tool source is larger than 1 MiB and is never truncated.',
    'Read it from the build archive.',
  ),
  'control.RATE_LIMITED': row('inaccessible', 'Too many requests.', 'Wait as Retry-After says.'),
  'control.INTERNAL': row(
    'inaccessible',
    'The control plane failed.',
    'Try again; give the correlation id to its operator.',
  ),
  'control.STORED_BYTES_CORRUPT': row(
    'inaccessible',
    'The stored bytes no longer match their digest and were not served.',
    'Tell the operator; use a mirror.',
  ),
  'control.NOT_IMPLEMENTED': row(
    'unsupported',
    'This control plane does not have the operation yet.',
    'Ask its operator.',
  ),
  'control.UNAVAILABLE': row(
    'inaccessible',
    'The control plane cannot serve at the moment.',
    'Try again later.',
  ),
  'control.REQUEST_TIMEOUT': row('inaccessible', 'The request took too long to arrive.', 'Send it again.'),
  'control.HEADERS_TOO_LARGE': row('limit', 'The headers are larger than the limit.', 'Send less.'),
  'control.EXPECTATION_FAILED': row(
    'usage',
    'The Expect header asks for something unknown.',
    'Leave it out.',
  ),
  'control.EXPORT_GENERATION_FAILED': row(
    'inaccessible',
    'Generating the export failed.',
    'Request a new export.',
  ),
  'control.EXPORT_SOURCE_MISSING': row(
    'missing',
    'Evidence selected for the export is gone.',
    'Request a new export.',
  ),
  'control.EXPORT_TOO_LARGE': row(
    'limit',
    'The selection is larger than an export may be.',
    'Choose a smaller window.',
  ),
  'control.RUNNER_FAILED': row(
    'inaccessible',
    'The runner of the work failed.',
    'Start the work again; give the operation id to the operator.',
  ),
  'control.RUNNER_LOST': row(
    'inaccessible',
    'Worker after worker ended in the middle of the work.',
    'Give the operation id to the operator, whose workers the work seems to bring down.',
  ),
  'control.DEADLINE_EXCEEDED': row(
    'refused',
    'The work was not done within its time.',
    'Start it again with more time.',
  ),
  'build.ARCHIVE_INVALID': row(
    'malformed',
    'The build archive breaks a rule of its format.',
    'Pack the build again.',
  ),
  'build.HASH_MISMATCH': row(
    'mismatch',
    'The build archive is not the build that was announced.',
    'Upload the announced build.',
  ),
  'build.PACKAGE_INVALID': row(
    'malformed',
    'A package of the build contradicts its lock row.',
    'Pack the build again.',
  ),
  'build.ENVIRONMENT_VERSION_MISMATCH': row(
    'mismatch',
    'The environment to be advanced is gone or has another version.',
    'Read the environment and upload again.',
  ),
} as const satisfies Readonly<Record<string, CodeEntry>>;
