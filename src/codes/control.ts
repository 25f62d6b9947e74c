import { cite } from './entry.ts';

const control = cite('control API, Errors; docs/server/control-api.md, Errors');

/** Codes that the control plane answers with, in its error envelope. */
export const controlCodes = {
  'control.REQUEST_INVALID': control.usage(
    'The request breaks a rule of the operation.',
    'Correct the request as the issues in the response describe.',
  ),
  'control.CURSOR_INVALID': control.usage(
    'The cursor belongs to another list or was changed.',
    'Start again from the first page.',
  ),
  'control.IDEMPOTENCY_KEY_REQUIRED': control.usage(
    'A request that changes something has no Idempotency-Key header.',
    'Send an Idempotency-Key, and reuse it only for a retry.',
  ),
  'control.UNAUTHENTICATED': control.refused(
    'The token is missing, unknown, expired or revoked.',
    'Set a valid token in DRILLPROOF_TOKEN or with --token-file.',
  ),
  'control.PERMISSION_DENIED': control.refused(
    'The token lacks the permission for the operation.',
    'Ask the operator for a token with the permission named in the message.',
  ),
  'control.ENTITLEMENT_EXCEEDED': control.refused(
    'The request exceeds an entitlement of the organization.',
    'Request less, or ask the operator to raise the entitlement.',
  ),
  'control.NOT_FOUND': control.missing(
    'The resource does not exist, or the token may not see it.',
    'Check the ids and the project.',
  ),
  'control.METHOD_NOT_ALLOWED': control.usage(
    'The path does not support this method.',
    'Use a method that the Allow header lists.',
  ),
  'control.LEASE_GENERATION_MISMATCH': control.refused(
    'The lease generation of the session does not match the request.',
    'Read the session again and use its current lease generation.',
  ),
  'control.VERSION_MISMATCH': control.refused(
    'The version of the resource does not match the request.',
    'Read the resource again and use its current version.',
  ),
  'control.SESSION_NOT_READY': control.refused(
    'The session is not in state ready.',
    'Wait until the session is ready.',
  ),
  'control.SESSION_EXPIRED': control.refused(
    'The session has expired, and an expired session cannot be extended.',
    'Create a new session.',
  ),
  'control.LIFETIME_NOT_LATER': control.refused(
    'The new deadline is not later than the current deadline.',
    'Request a longer lifetime.',
  ),
  'control.AUTHORING_SESSION_NOT_ACTIVE': control.refused(
    'The authoring session is closed.',
    'Open a new authoring session.',
  ),
  'control.RUN_NOT_TERMINAL': control.refused('The run has not ended.', 'Wait until the run ends.'),
  'control.EXPORT_FAILED': control.missing(
    'The export could not be generated, so it has no bytes.',
    'Request a new export.',
  ),
  'control.BUILD_NOT_AVAILABLE': control.missing(
    'The build has no archive that can be read.',
    'Upload the build.',
  ),
  'control.EXPORT_NOT_READY': control.inaccessible(
    'The export is still being generated.',
    'Try again later.',
  ),
  'control.IDEMPOTENCY_KEY_IN_USE': control.inaccessible(
    'A request with this idempotency key is in progress.',
    'Try again later with the same key.',
  ),
  'control.AUTHORING_TURN_ACTIVE': control.inaccessible(
    'Another turn of the authoring session is not finished.',
    'Try again when the turn has ended.',
  ),
  'control.EVIDENCE_DELETED': control.missing('The evidence was deleted.', 'Use a mirror if you have one.'),
  'control.UPLOAD_EXPIRED': control.refused('The upload address has expired.', 'Start a new upload.'),
  'control.PRECONDITION_FAILED': control.refused(
    'The resource does not have the ETag that If-Match names.',
    'Read the resource again and use its current ETag.',
  ),
  'control.PAYLOAD_TOO_LARGE': control.limit('The body is larger than the limit.', 'Send a smaller body.'),
  'control.UNSUPPORTED_MEDIA_TYPE': control.usage(
    'The operation does not accept the media type of the body.',
    'Send JSON as application/json, and the archive of a build as application/zip.',
  ),
  'control.RANGE_NOT_SATISFIABLE': control.usage(
    'The range is outside the bytes of the file.',
    'Request a range within the size in Content-Range.',
  ),
  'control.IDEMPOTENCY_KEY_REUSED': control.refused(
    'The idempotency key was used for a different request.',
    'Use a new key for a new request.',
  ),
  'control.UPLOAD_MISMATCH': control.mismatch(
    'The digest or the size of the upload does not match what was announced.',
    'Upload the announced bytes.',
  ),
  'control.UPLOAD_OFFSET_MISMATCH': control.refused(
    'The range of an upload does not begin where the stored bytes end.',
    'Read the upload address and continue at its receivedBytes.',
  ),
  'control.TOOL_SOURCE_TOO_LARGE': control.limit(
    'The tool source is larger than 1 MiB and is never truncated.',
    'Read the source from the build archive.',
  ),
  'control.RATE_LIMITED': control.inaccessible(
    'The client sent too many requests, or the organization has as many unfinished operations or uploads as it may have.',
    'Wait for the time in the Retry-After header.',
  ),
  'control.INTERNAL': control.inaccessible(
    'The control plane failed.',
    'Try again, and give the correlation id to the operator if it fails again.',
  ),
  'control.STORED_BYTES_CORRUPT': control.inaccessible(
    'The stored bytes do not match their digest and were not served.',
    'Report it to the operator, and use a mirror if you have one.',
  ),
  'control.NOT_IMPLEMENTED': control.unsupported(
    'This control plane does not implement the operation.',
    'Ask the operator.',
  ),
  'control.UNAVAILABLE': control.inaccessible(
    'The control plane is temporarily unavailable.',
    'Try again later.',
  ),
  'control.REQUEST_TIMEOUT': control.inaccessible(
    'The request took too long to arrive.',
    'Send the request again.',
  ),
  'control.HEADERS_TOO_LARGE': control.limit(
    'The request headers are larger than the limit.',
    'Send fewer or shorter headers.',
  ),
  'control.EXPECTATION_FAILED': control.usage(
    'The Expect header names an expectation that is not supported.',
    'Remove the Expect header.',
  ),
  'control.EXPORT_GENERATION_FAILED': control.inaccessible(
    'The export failed while it was being generated.',
    'Request the export again.',
  ),
  'control.EXPORT_SOURCE_MISSING': control.missing(
    'Evidence that was selected for the export no longer exists.',
    'Request a new export.',
  ),
  'control.EXPORT_TOO_LARGE': control.limit(
    'The selection is larger than the limit of an export.',
    'Choose a shorter time window.',
  ),
  'control.RUNNER_FAILED': control.inaccessible(
    'The runner that does the work failed.',
    'Start the work again, and give the operation id to the operator if it fails again.',
  ),
  'control.RUNNER_LOST': control.inaccessible(
    'Several workers in a row ended before they finished the work.',
    'Give the operation id to the operator; the work probably crashes the workers.',
  ),
  'control.DEADLINE_EXCEEDED': control.refused(
    'The work did not finish before its deadline.',
    'Start the work again with a longer timeout.',
  ),
  'control.TURN_LIMIT_EXCEEDED': control.limit(
    'An authoring turn used more turns or money than it was allowed.',
    'Send the turn again with a higher limit, or correct the runner.',
  ),
  'control.RERUN_INPUTS_DIFFER': control.mismatch(
    'The inputs that a rerun used differ from the pinned inputs of the original run.',
    'Correct the runner, so that it uses the identity in its job.',
  ),
  'control.RERUN_EVIDENCE_INVALID': control.mismatch(
    'The evidence of a rerun is damaged, unsigned, or belongs to another run.',
    'Correct the runner, so that it submits the signed part of this run.',
  ),
  'build.ARCHIVE_INVALID': control.malformed(
    'The build archive breaks a rule of its format.',
    'Pack the build again.',
  ),
  'build.HASH_MISMATCH': control.mismatch(
    'The build archive does not match the announced build hash.',
    'Upload the announced build.',
  ),
  'build.PACKAGE_INVALID': control.malformed(
    'A package of the build does not match its row in the lock.',
    'Pack the build again.',
  ),
  'build.ENVIRONMENT_VERSION_MISMATCH': control.mismatch(
    'The environment that the build should advance is missing or has a different version.',
    'Read the environment and upload the build again.',
  ),
} as const;
