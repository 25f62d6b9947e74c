import type { Digest } from '../bytes/hash.ts';
import type { P256 } from '../bytes/platform.ts';
import type { RandomAccess } from '../bytes/random-access.ts';
import { EVIDENCE_PREDICATE_TYPE, EXPORT_PREDICATE_TYPE } from '../contract/index.ts';
import { DEFAULT_LIMITS, type EvidenceLimits } from '../evidence/limits.ts';
import type { Purpose, TrustStore } from '../trust/index.ts';
import type { ZipLimits } from '../zip/index.ts';
import { DEPTHS, type Depth, type TrustUsed } from './report.ts';

/** What the caller knows from elsewhere; each difference fails the verification (formats §1). */
export type Expectations = {
  /** SHA-256 of the export manifest, or of the bundle manifest where a single part is verified. */
  readonly manifestDigest?: Digest;
  readonly evidenceExportId?: string;
  readonly organizationId?: string;
  readonly projectId?: string;
  /** Number of bundles of the export. */
  readonly bundles?: number;
};

/** A second, independent reader and a second, independent implementation of the signature check. */
export type SecondOpinion = {
  readonly p256: P256;
  readZip(access: RandomAccess): AsyncIterable<{ name: string; bytes: number; digest: Digest }>;
};

export type VerifyOptions = {
  /** The time of the verification in ms: statements issued after it are refused. */
  readonly asOfMs: number;
  /** Without one, no signature is judged and nothing is better than `intact`. */
  readonly trust?: TrustStore;
  /** Default `full`. */
  readonly depth?: Depth;
  readonly expect?: Expectations;
  /** Default: the types of docs/formats.md §2. */
  readonly predicateTypes?: { readonly evidence: readonly string[]; readonly export: readonly string[] };
  readonly secondOpinion?: SecondOpinion;
  readonly limits?: EvidenceLimits;
  readonly zipLimits?: Partial<ZipLimits>;
  readonly signal?: AbortSignal;
};

/** The options as every step reads them: checked, and defaults filled in, once. */
export type Settings = VerifyOptions &
  Required<Pick<VerifyOptions, 'depth' | 'expect' | 'predicateTypes' | 'limits'>>;

export function settingsOf(options: VerifyOptions): Settings {
  const { asOfMs, depth = 'full', expect = {}, limits = DEFAULT_LIMITS } = options;
  const { predicateTypes = OUR_PREDICATE_TYPES } = options;
  // No statement would be after NaN, and no content would be read at a depth that is misspelt.
  if (!Number.isSafeInteger(asOfMs)) throw new TypeError('asOfMs is a time in whole milliseconds');
  if (!DEPTHS.includes(depth)) throw new TypeError(`depth is one of ${DEPTHS.join(', ')}`);
  return { ...options, depth, expect, predicateTypes, limits };
}

/** What every report says of the trust store: which it was, or nothing when there was none. */
export const trustOf = ({ trust }: Settings): { readonly trust?: TrustUsed } =>
  trust === undefined ? {} : { trust: { fingerprint: trust.fingerprint, keys: trust.keys.length } };

const OUR_PREDICATE_TYPES = { evidence: [EVIDENCE_PREDICATE_TYPE], export: [EXPORT_PREDICATE_TYPE] };

/** What a signed statement may be about here. */
export type StatementPurpose = Extract<Purpose, 'evidence' | 'export'>;

/** The predicate types that are accepted for a purpose. */
export const acceptedTypes = ({ predicateTypes }: Settings, purpose: StatementPurpose): readonly string[] =>
  predicateTypes[purpose];
