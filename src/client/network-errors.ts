import type { Code } from '../codes/index.ts';
import { DrillproofError, TransportError } from '../errors.ts';

/** Where an attempt was when it failed. */
export type Phase = 'headers' | 'body';
type Known = { readonly why: string; readonly code?: Code; readonly passes: boolean };

// Names that Node gives to failures of a connection, and whether the same request may succeed later.
const KNOWN = new Map<string, Known>([
  ['ECONNREFUSED', { why: 'the connection is refused', code: 'transport.UNREACHABLE', passes: true }],
  ['ECONNRESET', { why: 'the connection was reset', code: 'transport.INTERRUPTED', passes: true }],
  ['ECONNABORTED', { why: 'the connection was aborted', code: 'transport.INTERRUPTED', passes: true }],
  ['EPIPE', { why: 'the connection was closed', code: 'transport.INTERRUPTED', passes: true }],
  ['UND_ERR_SOCKET', { why: 'the connection was closed', code: 'transport.INTERRUPTED', passes: true }],
  ['ETIMEDOUT', { why: 'connecting took too long', code: 'transport.TIMEOUT', passes: true }],
  ['UND_ERR_CONNECT_TIMEOUT', { why: 'connecting took too long', code: 'transport.TIMEOUT', passes: true }],
  ['UND_ERR_HEADERS_TIMEOUT', { why: 'no answer came in time', code: 'transport.TIMEOUT', passes: true }],
  ['UND_ERR_BODY_TIMEOUT', { why: 'the body stalled', code: 'transport.TIMEOUT', passes: true }],
  ['ENETUNREACH', { why: 'the network is unreachable', code: 'transport.UNREACHABLE', passes: true }],
  ['EHOSTUNREACH', { why: 'the host is unreachable', code: 'transport.UNREACHABLE', passes: true }],
  ['EAI_AGAIN', { why: 'the name server does not answer', code: 'transport.UNREACHABLE', passes: true }],
  ['ENOTFOUND', { why: 'the host name is unknown', code: 'transport.UNREACHABLE', passes: false }],
]);

/**
 * The error for an exchange that broke without an HTTP status. Its message is made here: the one of the platform
 * could repeat what was sent.
 */
export function networkError(cause: unknown, phase: Phase): DrillproofError {
  if (cause instanceof DrillproofError) return cause;
  const errno = causeCode(cause);
  const known = errno === undefined ? undefined : KNOWN.get(errno);
  const code = known?.code ?? codeByName(errno, phase);
  const why = known?.why ?? errno ?? 'the connection failed';
  // A browser gives no name to a failure, and most of them are failures of the connection.
  const passes = known?.passes ?? errno === undefined;
  const when = phase === 'headers' ? 'no answer' : 'the answer broke off';
  return new TransportError(code, `${when}: ${why}`, { details: { phase, passes, errno: errno ?? null } });
}

/** Whether a failure of the connection may pass by itself; `false` for every other error. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof TransportError)) return false;
  return error.code === 'transport.TIMEOUT' || error.details?.['passes'] === true;
}

function codeByName(errno: string | undefined, phase: Phase): Code {
  if (errno?.startsWith('HPE_') === true) return 'transport.RESPONSE_INVALID';
  return phase === 'headers' ? 'transport.UNREACHABLE' : 'transport.INTERRUPTED';
}

// `fetch` wraps the failure of the socket, sometimes twice.
function causeCode(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; depth < 4 && at instanceof Error; depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    at = at.cause;
  }
  return undefined;
}
