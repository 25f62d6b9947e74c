import {
  AMOUNT,
  checkArguments,
  FLAG,
  listOf,
  type Members,
  type MembersOf,
  OBJECT,
  oneOf,
  optional,
  optionsOf,
  SIGNAL,
  TEXT,
  TIME,
  withMethods,
} from '../bytes/arguments.ts';
import { type Digest, digestOf } from '../bytes/hash.ts';
import type { P256 } from '../bytes/platform.ts';
import type { RandomAccess } from '../bytes/random-access.ts';
import { EVIDENCE_PREDICATE_TYPE, EXPORT_PREDICATE_TYPE } from '../contract/resources/attestation.ts';
import { DEFAULT_LIMITS, EVIDENCE_LIMITS, type EvidenceLimits } from '../evidence/document.ts';
import type { Purpose } from '../trust/trusted-key.ts';
import { resolveTrust, type Trust, type TrustStore } from '../trust/store.ts';
import { ZIP_LIMITS, type ZipLimits } from '../zip/limits.ts';
import { DEPTHS, type Depth, type Stamp, type TrustUsed } from './report.ts';
import { type CheckedTimestamp, indexStamps, type Stamps, TIMESTAMPS } from './timestamps.ts';

/** Facts that the caller knows from an independent source; each difference fails the verification (formats §1). */
export type Expectations = {
  /** SHA-256 of the export manifest, or of the bundle manifest if a single part is verified. */
  readonly manifestDigest?: Digest;
  /** The export. */
  readonly evidenceExportId?: string;
  /** The organization of everything. */
  readonly organizationId?: string;
  /** The project of every bundle. */
  readonly projectId?: string;
  /** Number of bundles of the export. */
  readonly bundles?: number;
};

/**
 * A second, independent ZIP reader and implementation of the signature check (formats §4). `secondOpinion` of
 * `drillproof/node` is one.
 */
export type SecondOpinion = {
  readonly p256: P256;
  readZip(access: RandomAccess): AsyncIterable<{ name: string; bytes: number; digest: Digest }>;
};

/** The options of every verification. Only `asOfMs` is required (formats §4). */
export type VerifyOptions = {
  /** The time of the verification, a Date or ms since 1970: statements issued after it are refused. */
  readonly asOfMs: number | Date;
  /** A trust store, or one key and its issuer. Without it, no signature is verified, and the best verdict is `intact`. */
  readonly trust?: Trust;
  /** Tolerance in ms for statements issued after `asOfMs`, because clocks differ; default 0. */
  readonly clockSkewMs?: number;
  /** Default `full`. */
  readonly depth?: Depth;
  /** Facts that the evidence must have. */
  readonly expect?: Expectations;
  /** Default: the types of docs/formats/formats.md §2. */
  readonly predicateTypes?: { readonly evidence: readonly string[]; readonly export: readonly string[] };
  /** Reads and verifies everything again with other code; a difference fails the evidence. */
  readonly secondOpinion?: SecondOpinion;
  /**
   * Timestamp tokens, as `verifyTimestamps` of `drillproof/node` checked them with the same trust store. A statement whose bytes one
   * of them is about existed at that time, so a key that ended or was revoked later is valid for it (formats §9).
   */
  readonly timestamps?: readonly CheckedTimestamp[];
  /** Missing limits have their defaults. */
  readonly limits?: Partial<EvidenceLimits>;
  /** Bounds of archives; missing limits have their defaults. */
  readonly zipLimits?: Partial<ZipLimits>;
  /**
   * Omits the checks of reports on bundles, and all findings but the first of each code, whose `more` has the number of the others.
   * This is enough for a policy and needs less memory for thousands of bundles. Default `false`.
   */
  readonly short?: boolean;
  /** Ends the verification with its reason. */
  readonly signal?: AbortSignal;
};

/** The options after they were checked and defaults were added. */
export type Settings = Required<
  Pick<VerifyOptions, 'clockSkewMs' | 'depth' | 'expect' | 'predicateTypes'>
> & {
  readonly [K in 'secondOpinion' | 'timestamps' | 'zipLimits' | 'short' | 'signal']?:
    | VerifyOptions[K]
    | undefined;
} & {
  readonly asOfMs: number;
  readonly trust?: TrustStore | undefined;
  readonly limits: EvidenceLimits;
  /** The timestamps that count. */
  readonly stamps: Stamps;
};

const EXPECTATIONS: MembersOf<Expectations> = {
  manifestDigest: optional(TEXT),
  evidenceExportId: optional(TEXT),
  organizationId: optional(TEXT),
  projectId: optional(TEXT),
  bundles: optional(AMOUNT),
};

/** The kind of each option. `resolveTrust` checks `trust`. */
export const VERIFY_OPTIONS: MembersOf<VerifyOptions> = {
  asOfMs: TIME,
  trust: optional(OBJECT),
  clockSkewMs: optional(AMOUNT),
  depth: optional(oneOf(DEPTHS)),
  expect: optional(optionsOf(EXPECTATIONS)),
  predicateTypes: optional(optionsOf({ evidence: listOf(TEXT), export: listOf(TEXT) })),
  secondOpinion: optional(withMethods('a second opinion', 'readZip')),
  timestamps: optional(TIMESTAMPS),
  limits: optional(EVIDENCE_LIMITS),
  zipLimits: optional(ZIP_LIMITS),
  short: optional(FLAG),
  signal: optional(SIGNAL),
};

/**
 * Checks options and adds defaults.
 * @param members the kinds of the options of one function
 * @throws TypeError that names the option; the reason of an aborted `signal`
 */
export function resolveSettings(options: VerifyOptions, members: Members = VERIFY_OPTIONS): Settings {
  checkArguments({ options: optionsOf(members) }, { options });
  const { asOfMs, trust, depth = 'full', expect = {}, predicateTypes = OUR_PREDICATE_TYPES } = options;
  const { clockSkewMs = 0, secondOpinion, timestamps, limits, zipLimits, short, signal } = options;
  signal?.throwIfAborted();
  return {
    asOfMs: Number(asOfMs),
    trust: trust && resolveTrust(trust),
    clockSkewMs,
    depth,
    expect,
    predicateTypes,
    secondOpinion,
    timestamps,
    stamps: indexStamps(timestamps),
    limits: limits === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, ...limits },
    zipLimits,
    short,
    signal,
  };
}

/** The timestamp that counts for these bytes. */
export const findStamp = ({ stamps }: Settings, bytes: Uint8Array): Stamp | undefined =>
  stamps.size === 0 ? undefined : stamps.get(digestOf(bytes));

export const describeTrust = ({ trust }: Pick<Settings, 'trust'>): TrustUsed | undefined =>
  trust && { fingerprint: trust.fingerprint, keys: trust.keys.length };

const OUR_PREDICATE_TYPES = { evidence: [EVIDENCE_PREDICATE_TYPE], export: [EXPORT_PREDICATE_TYPE] };

export type StatementPurpose = Extract<Purpose, 'evidence' | 'export'>;

/** The predicate types that are accepted for a purpose. */
export const listTypes = ({ predicateTypes }: Settings, purpose: StatementPurpose): readonly string[] =>
  predicateTypes[purpose];
