import * as z from 'zod/mini';
import { defined } from '../bytes/arguments.ts';
import { readDer } from '../bytes/der.ts';
import { type Digest, digestOf } from '../bytes/hash.ts';
import { formatJsonPointer, type JsonObject, type JsonValue } from '../bytes/json/parse.ts';
import { fromBase64, toBase64 } from '../bytes/text/encoding.ts';
import { msSchema, textSchema } from '../contract/scalars.ts';
import { typeValue } from '../contract/type-value.ts';
import type { KeyFault } from './faults.ts';

/**
 * A certificate of a time authority that the caller trusts (formats §3): the one that signs timestamps, or one that issued
 * it, directly or through others. Times are milliseconds since 1970, and the window includes both ends.
 */
export type TrustedCertificate = {
  /** The name that reports and policies give to the authority. */
  readonly issuer: string;
  /** The certificate, as DER. */
  readonly certificate: Uint8Array;
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
  readonly revokedAtMs?: number;
  /**
   * If true (default), the revocation makes every timestamp invalid that no renewal saves; if false, timestamps before
   * `revokedAtMs` stay valid. Ignored for a certificate that is not revoked.
   */
  readonly compromised: boolean;
};

/** The name of a certificate: the SHA-256 of its DER. */
export const certificateIdOf = ({ certificate }: Pick<TrustedCertificate, 'certificate'>): Digest =>
  digestOf(certificate);

const MAX_CERTIFICATE_BYTES = 64 * 1024;

const derSchema = z.pipe(
  z.string(),
  z.transform((value, context) => {
    const bytes = fromBase64(value);
    try {
      if (bytes !== undefined && bytes.length <= MAX_CERTIFICATE_BYTES) {
        readDer(bytes);
        return bytes;
      }
    } catch {} // the issue below says what is wrong
    context.issues.push({ code: 'custom', input: value, message: 'must be base64 of one DER certificate' });
    return z.NEVER;
  }),
);

/** A member of `certificates` in a trust store. */
export const trustedCertificateSchema = z
  .strictObject({
    issuer: textSchema(1, 1024),
    x5c: z.tuple([derSchema]),
    purposes: z.tuple([z.literal('timestamp')]),
    notBeforeMs: z.exactOptional(msSchema),
    notAfterMs: z.exactOptional(msSchema),
    revokedAtMs: z.exactOptional(msSchema),
    compromised: z.exactOptional(z.boolean()),
  })
  .check(
    z.refine((row) => (row.notBeforeMs ?? -Infinity) <= (row.notAfterMs ?? Infinity), {
      path: ['notAfterMs'],
      message: 'the certificate ends before it begins',
    }),
    z.refine((row) => row.revokedAtMs !== undefined || row.compromised === undefined, {
      path: ['compromised'],
      message: 'only a revoked certificate can have compromised; add revokedAtMs',
    }),
  );

/** The certificate of one member of a trust store, or every rule that it breaks. */
export function readTrustedCertificate(
  value: JsonValue,
  path: string,
): { certificate: TrustedCertificate } | { faults: readonly KeyFault[] } {
  const read = typeValue(trustedCertificateSchema, value);
  if (read.success) {
    const { x5c, purposes: _purposes, compromised = true, ...rest } = read.data;
    return { certificate: Object.freeze({ ...rest, certificate: x5c[0], compromised }) };
  }
  const faults = read.error.issues.map((issue) => ({
    code: 'trust.STORE_INVALID' as const,
    path: path + formatJsonPointer(issue.path),
    message: issue.message,
  }));
  return { faults };
}

/** The members of a certificate in a trust store (formats §3). */
export const formatTrustedCertificate = ({
  certificate,
  compromised,
  issuer,
  ...limits
}: TrustedCertificate): JsonObject =>
  defined({
    issuer,
    x5c: [toBase64(certificate)],
    purposes: ['timestamp'],
    notBeforeMs: limits.notBeforeMs,
    notAfterMs: limits.notAfterMs,
    revokedAtMs: limits.revokedAtMs,
    compromised: limits.revokedAtMs === undefined ? undefined : compromised,
  });
