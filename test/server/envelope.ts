import { expect } from 'vitest';
import {
  controlErrors,
  errorEnvelopeSchema,
  type ControlCode,
  type ErrorEnvelope,
} from '../../src/contract/operations/errors.ts';
import { correlationIdSchema } from '../../src/contract/scalars.ts';

/** Checks the headers of every answer. */
export function expectCommonHeaders(response: Response): void {
  expect(correlationIdSchema.safeParse(response.headers.get('x-correlation-id')).success).toBe(true);
  expect(response.headers.get('cache-control')).toBe('private, no-store');
}

/** Checks that an answer is the canonical error envelope, with this code if it is given, and returns it. */
export async function expectEnvelope(
  answer: Response | Promise<Response>,
  code?: ControlCode,
): Promise<ErrorEnvelope> {
  const response = await answer;
  expectCommonHeaders(response);
  expect(response.headers.get('content-type')).toBe('application/json');
  const text = await response.text();
  const envelope = errorEnvelopeSchema.parse(JSON.parse(text));
  if (code !== undefined) expect(envelope.code).toBe(code);
  const { status, retryable } = controlErrors[envelope.code as ControlCode];
  expect([response.status, envelope.retryable]).toEqual([status, retryable]);
  expect(envelope.correlationId).toBe(response.headers.get('x-correlation-id'));
  expect(text).not.toMatch(/\bat .*:\d+:\d+|node_modules|\/tmp\/|src\/server/);
  return envelope;
}
