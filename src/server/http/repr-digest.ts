/** The value of `Repr-Digest` for bytes with this SHA-256 (RFC 9530 §3). */
export const reprDigest = (sha256: Buffer): string => `sha-256=:${sha256.toString('base64')}:`;
