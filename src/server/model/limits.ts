import { amountsOf } from '../../bytes/arguments.ts';

const LIMITS = {
  /** JSON bodies of requests. */
  bodyBytes: 1024 * 1024,
  /** Request line and headers together; room for a token of 100 KB to be refused as a token. */
  headerBytes: 128 * 1024,
  /** Steady requests per second of one token, and how many may come at once. */
  requestsPerSecond: 100,
  requestBurst: 200,
  /** The same for downloads, which are counted apart: a mirror of 10,000 parts is not slowed down. */
  downloadsPerSecond: 2_000,
  downloadBurst: 4_000,
  /**
   * Downloads and uploads that run at once, of which a token may have a quarter and an organization half. A download
   * holds at most 256 KiB, and an upload 1 MiB, however slow its client is.
   */
  downloads: 256,
  uploads: 64,
  /** The least rate of a download and of an upload, in bytes a second; it may pause for `requestTimeoutMs`. */
  downloadBytesPerSecond: 10_000,
  uploadBytesPerSecond: 10_000,
  /** How long an upload address lasts. */
  uploadTtlMs: 60 * 60 * 1000,
  /** Time for all headers, for a JSON body or a pause of a transfer, and between requests of a connection. */
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 5_000,
  /** Time without a byte moving on a connection that is in use. */
  stallTimeoutMs: 120_000,
  /** Time that `close` waits for answers that are under way. */
  drainMs: 30_000,
};
/** The limits of a server; each loop over external input is bounded by one of them. Units are in the names. */
export type ServerLimits = Readonly<typeof LIMITS>;

/** The limits of a server: bytes, counts, and milliseconds. */
export const defaultLimits: ServerLimits = LIMITS;

/** What an option that has some of these limits may be. */
export const SERVER_LIMITS = amountsOf(defaultLimits);
