/** An incremental SHA-256. `digest` may be called once. */
export type Sha256 = { update(chunk: Uint8Array): void; digest(): Uint8Array };

/** A P-256 public key that verifies ECDSA-SHA256 signatures in strict DER; the caller has checked the encoding. */
export type P256Verifier = {
  verify(message: Uint8Array, derSignature: Uint8Array): boolean;
  /** `verify` by a faster asynchronous implementation; absent if the platform has none. */
  verifyLater?(message: Uint8Array, derSignature: Uint8Array): Promise<boolean>;
};

/** A P-256 private key that creates ECDSA-SHA256 signatures in DER. `point` is the public key, uncompressed (65 bytes). */
export type P256Signer = { readonly point: Uint8Array; sign(message: Uint8Array): Uint8Array };

/** ECDSA on P-256 as both implementations offer it. Points are uncompressed SEC 1 (65 bytes), scalars 32 bytes. */
export type P256 = {
  /**
   * The uncompressed form of a point in either form of SEC 1 §2.3.3: 33 bytes, or 65.
   * @throws DrillproofError `trust.KEY_INVALID` for anything else, infinity and points off the curve included.
   */
  uncompress(point: Uint8Array): Uint8Array;
  /** @throws DrillproofError `trust.KEY_INVALID` for a point that is not on the curve. */
  verifier(point: Uint8Array): P256Verifier;
  /** @throws DrillproofError `trust.KEY_INVALID` for a scalar outside 1…n-1. */
  signer(scalar: Uint8Array): P256Signer;
  generateScalar(): Uint8Array;
};

export type Bytes = AsyncIterable<Uint8Array>;

/**
 * The primitives that differ by platform; `#platform` in package.json chooses the implementation.
 * All other code in the portable rooms is the same everywhere.
 */
export type Platform = {
  readonly name: 'node' | 'portable';
  /** Resolves after other waiting work has run. */
  turn(): Promise<void>;
  sha256(): Sha256;
  /** SHA-256 of bytes in memory, in lowercase hex. */
  sha256Hex(bytes: Uint8Array): string;
  /** `sha256Hex` by a faster asynchronous implementation; absent if the platform has none. */
  sha256HexLater?(bytes: Uint8Array): Promise<string>;
  p256: P256;
};

/** The primitives of ZIP archives, which bundles of programs without archives omit. */
export type ZipPlatform = {
  /** CRC-32 (ISO-HDLC), continued from `seed` (0 at the start). */
  crc32(chunk: Uint8Array, seed: number): number;
  /**
   * Decodes one raw DEFLATE stream (RFC 1951).
   * @throws DrillproofError `zip.DATA_INVALID` for data that does not decode, ends early or has bytes after its end.
   */
  inflateRaw(compressed: Bytes): Bytes;
  /**
   * `inflateRaw` of a small stream in one call, if the platform can; `undefined` for a stream that is too large.
   * @throws DrillproofError `zip.DATA_INVALID` as `inflateRaw` does
   */
  inflateAtOnce?(compressed: Uint8Array): Uint8Array | undefined;
  /** Encodes one raw DEFLATE stream at the given level, 1 to 9. */
  deflateRaw(plain: Bytes, level: number): Bytes;
};
