import { amountsOf } from '../../bytes/arguments.ts';

/** The limits of the server; each loop over external input is bounded by one of them. Units are in the names. */
export type ServerLimits = {
  /** JSON bodies of requests. */
  readonly bodyBytes: number;
  /** Request line and headers together; room for a token of 100 KB to be refused as a token. */
  readonly headerBytes: number;
  /** Steady requests per second of one token, and how many may come at once. */
  readonly requestsPerSecond: number;
  readonly requestBurst: number;
  /** The same for downloads, which are counted apart: a mirror of 10,000 parts is not slowed down. */
  readonly downloadsPerSecond: number;
  readonly downloadBurst: number;
  /**
   * Downloads and uploads that run at once, of which a token may have a quarter and an organization half. A download
   * holds at most 256 KiB, and an upload 1 MiB, however slow its client is.
   */
  readonly downloads: number;
  readonly uploads: number;
  /** The least rate of a download and of an upload, in bytes a second; it may pause for `requestTimeoutMs`. */
  readonly downloadBytesPerSecond: number;
  readonly uploadBytesPerSecond: number;
  /** How long an upload address lasts. */
  readonly uploadTtlMs: number;
  /** Time for all headers, for a JSON body or a pause of a transfer, and between requests of a connection. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** Time without a byte moving on a connection that is in use. */
  readonly stallTimeoutMs: number;
  /** Time that `close` waits for answers that are under way. */
  readonly drainMs: number;
};

/** The limits of a server: bytes, counts, and milliseconds. */
export const defaultLimits: ServerLimits = {
  bodyBytes: 1024 * 1024,
  headerBytes: 128 * 1024,
  requestsPerSecond: 100,
  requestBurst: 200,
  downloadsPerSecond: 2_000,
  downloadBurst: 4_000,
  downloads: 256,
  uploads: 64,
  downloadBytesPerSecond: 10_000,
  uploadBytesPerSecond: 10_000,
  uploadTtlMs: 60 * 60 * 1000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 5_000,
  stallTimeoutMs: 120_000,
  drainMs: 30_000,
};

/** What an option that has some of these limits may be. */
export const SERVER_LIMITS = amountsOf(defaultLimits);
