import { hash } from 'node:crypto';
import { type Answer, commonHeaders, ControlError } from './envelope.ts';

/** Whether If-Range allows the Range: only if it is the strong validator served now (RFC 9110 §13.1.5). */
export const ifRangeHolds = (header: string | undefined, etag: string): boolean =>
  header === undefined || header.trim() === etag;

/** Whether If-None-Match names this strong validator, or is `*`; weak ones compare equal (RFC 9110 §13.1.2). */
export const isUnchanged = (header: string | undefined, etag: string): boolean =>
  header?.trim() === '*' ||
  header?.split(',').some((item) => item.trim().replace(/^W\//, '') === etag) === true;

/** The answer to a client that has these bytes. */
export const notModified = (correlationId: string, etag: string): Answer => ({
  status: 304,
  headers: { ...commonHeaders(correlationId), ETag: etag },
  body: null,
});

/** The SHA-256 of a document as it is sent, in base64. */
export const digestDocument = (body: string): string => hash('sha256', body, 'base64');

/** The strong validator of a document with this digest. */
export const documentEtag = (digest: string): string => `"${digest}"`;

/** @throws ControlError `control.PRECONDITION_FAILED` unless If-Match is absent, `*`, or names the validator */
export function assertMatch(header: string | undefined, etag: string): void {
  // The comparison is strong: a weak validator never matches (RFC 9110 §13.1.1).
  const named = header?.split(',').map((item) => item.trim());
  if (named === undefined || named.includes(etag) || header?.trim() === '*') return;
  throw preconditionFailed();
}

export const preconditionFailed = (): ControlError =>
  new ControlError('control.PRECONDITION_FAILED', 'the resource has none of the ETags in If-Match');
