import { AMOUNT, type Kind, optional, optionsOf } from '../bytes/index.ts';

/**
 * The most that evidence may have of anything: bytes or counts. Every loop over external input is bounded by one of
 * them (formats, Limits).
 */
export type EvidenceLimits = {
  /** Bytes of a bundle manifest or an export manifest. */
  readonly manifestBytes: number;
  /** Bytes of an attestation, an export resource or a receipt. */
  readonly documentBytes: number;
  /** Bytes of a run result. */
  readonly runResultBytes: number;
  /** JSON values of each of these documents. */
  readonly jsonValues: number;
  /** Parts of an export, and likewise local reports (control API, Limits). */
  readonly parts: number;
  /** Objects of a bundle. */
  readonly objects: number;
  /** Files that lie in an export, whether listed or not. */
  readonly files: number;
};

/** The limits that apply if the caller gives none: bytes, and counts of values, parts, objects and files. */
export const DEFAULT_LIMITS: EvidenceLimits = {
  manifestBytes: 64 * 1024 * 1024,
  documentBytes: 1024 * 1024,
  runResultBytes: 64 * 1024 * 1024,
  jsonValues: 1_000_000,
  parts: 10_000,
  objects: 99_998,
  files: 50_000,
};

/** What an argument that has some of these limits may be. */
export const EVIDENCE_LIMITS: Kind = optionsOf(
  Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, optional(AMOUNT)])),
);
