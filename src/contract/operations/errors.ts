import * as z from 'zod/mini';
import type { Code } from '../../codes/catalogue.ts';
import { codesIn, countSchema, openObjectSchema, positiveIntegerSchema, textSchema } from '../scalars.ts';

const refuse = (status: number) => ({ status, retryable: false }) as const;
const retry = (status: number) => ({ status, retryable: true }) as const;

/**
 * The codes of the control plane and their meaning on the wire (control API, Errors): the HTTP status, and whether the
 * same request may succeed later.
 */
export const controlErrors = {
  'control.REQUEST_INVALID': refuse(400),
  'control.CURSOR_INVALID': refuse(400),
  'control.IDEMPOTENCY_KEY_REQUIRED': refuse(400),
  'control.UNAUTHENTICATED': refuse(401),
  'control.PERMISSION_DENIED': refuse(403),
  'control.ENTITLEMENT_EXCEEDED': refuse(403),
  'control.NOT_FOUND': refuse(404),
  'control.METHOD_NOT_ALLOWED': refuse(405),
  'control.REQUEST_TIMEOUT': retry(408),
  'control.LEASE_GENERATION_MISMATCH': refuse(409),
  'control.VERSION_MISMATCH': refuse(409),
  'control.SESSION_NOT_READY': refuse(409),
  'control.SESSION_EXPIRED': refuse(409),
  'control.LIFETIME_NOT_LATER': refuse(409),
  'control.AUTHORING_SESSION_NOT_ACTIVE': refuse(409),
  'control.RUN_NOT_TERMINAL': refuse(409),
  'control.EXPORT_FAILED': refuse(409),
  'control.BUILD_NOT_AVAILABLE': refuse(409),
  'control.UPLOAD_OFFSET_MISMATCH': refuse(409),
  'control.EXPORT_NOT_READY': retry(409),
  'control.IDEMPOTENCY_KEY_IN_USE': retry(409),
  'control.AUTHORING_TURN_ACTIVE': retry(409),
  'control.EVIDENCE_DELETED': refuse(410),
  'control.UPLOAD_EXPIRED': refuse(410),
  'control.PRECONDITION_FAILED': refuse(412),
  'control.PAYLOAD_TOO_LARGE': refuse(413),
  'control.UNSUPPORTED_MEDIA_TYPE': refuse(415),
  'control.RANGE_NOT_SATISFIABLE': refuse(416),
  'control.EXPECTATION_FAILED': refuse(417),
  'control.IDEMPOTENCY_KEY_REUSED': refuse(422),
  'control.UPLOAD_MISMATCH': refuse(422),
  'control.TOOL_SOURCE_TOO_LARGE': refuse(422),
  'control.RATE_LIMITED': retry(429),
  'control.HEADERS_TOO_LARGE': refuse(431),
  'control.INTERNAL': retry(500),
  'control.STORED_BYTES_CORRUPT': refuse(500),
  'control.NOT_IMPLEMENTED': refuse(501),
  'control.UNAVAILABLE': retry(503),
} as const satisfies Partial<Record<Code, { status: number; retryable: boolean }>>;

export type ControlCode = keyof typeof controlErrors;

/**
 * Whether a string is a code of `controlErrors` (control API, Errors). Only own members count, so `__proto__` does not.
 * @example
 * if (isControlCode(code)) console.error(controlErrors[code].status);
 */
export const isControlCode = (value: string): value is ControlCode => Object.hasOwn(controlErrors, value);

const envelopeIssueSchema = z.strictObject({ path: z.string(), code: z.string(), message: z.string() });
/** A rule of the operation that a request breaks. `path` is a JSON pointer below `/params`, `/query`, `/headers` or `/body`. */
export type RequestIssue = Readonly<z.infer<typeof envelopeIssueSchema>>;

// Other servers may name their sessions, runs and builds in other forms.
const evidenceNameSchema = z.optional(textSchema(0, 256));

const envelopeEvidenceSchema = z.strictObject({
  sessionId: evidenceNameSchema,
  runId: evidenceNameSchema,
  journalSeq: z.optional(countSchema),
  buildHash: evidenceNameSchema,
});

/** The body of every failed request (control API, Errors). Open: unknown members are kept. */
export const errorEnvelopeSchema = z.looseObject({
  code: codesIn('control|world'),
  message: z.string().check(z.minLength(1)),
  correlationId: z.string().check(z.minLength(1)),
  retryable: z.boolean(),
  source: z.enum(['platform', 'simulated_provider']),
  retryAfterMs: z.optional(positiveIntegerSchema),
  operationId: z.optional(z.string()),
  issues: z.optional(z.array(envelopeIssueSchema)),
  details: z.optional(openObjectSchema),
  evidence: z.optional(envelopeEvidenceSchema),
});

/** The body of each answer that reports an error (control API, Errors). `retryAfterMs` is in milliseconds. */
export type ErrorEnvelope = z.infer<typeof errorEnvelopeSchema>;
