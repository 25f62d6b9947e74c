import { OBJECT, optional, type MembersOf } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import type { Attestation, Reproduction, RunResult } from '../../contract/index.ts';
import type { BundleManifest, PartRow } from '../../evidence/index.ts';
import type { ZipEntry } from '../../zip/index.ts';
import { createLedger, type CheckId, type Ledger } from '../check.ts';
import { settingsOf, VERIFY_OPTIONS, type Settings, type VerifyOptions } from '../options.ts';
import {
  ENVELOPES,
  givenEnvelopes,
  type Envelopes,
  type GivenEnvelope,
} from '../signature/given-envelopes.ts';
import type { SignedBy, SigningKey } from '../report.ts';

/** What the export manifest says of a part; without it a part is judged by itself. */
export type Listing = {
  readonly row: PartRow;
  readonly organizationId: string;
  readonly fromAtMs: number;
  readonly throughAtMs: number;
  /** A trusted key signed the list, and with it the digest of the whole archive. */
  readonly listAttested?: true;
  /** Envelopes about this bundle that the caller gave beside the export; whoever judges the part judges these. */
  readonly envelopes?: readonly GivenEnvelope[];
};

export type VerifyPartOptions = VerifyOptions & {
  readonly listed?: Listing;
  /**
   * DSSE envelopes about this bundle, at most 10,000, each of which has to hold. Where the part carries no attestation
   * they stand for one (formats §2, DSSE).
   */
  readonly dsse?: Envelopes;
};

const PART_OPTIONS: MembersOf<VerifyPartOptions> = {
  ...VERIFY_OPTIONS,
  listed: optional(OBJECT),
  dsse: optional(ENVELOPES),
};

/** Sizes and digests of the entries of an archive, by name, as they were read. */
type ReadEntries = Map<string, { readonly bytes: number; readonly digest: Digest }>;

/** What is known of a bundle while its verification goes on. */
export type Bundle = {
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly listed?: Listing;
  /** What the caller gave beside it. */
  readonly envelopes: readonly GivenEnvelope[];
  /** What findings are about: the id in the row, until the manifest is read. */
  subject: string;
  archive?: { readonly digest: Digest; readonly bytes: number };
  manifest?: BundleManifest;
  manifestDigest?: Digest;
  manifestBytes: number;
  runResult?: RunResult;
  attestation?: Attestation;
  /** Whether it carries an attestation, as far as that is known. */
  signed: boolean | undefined;
  signer?: SignedBy | undefined;
  signers: readonly SigningKey[];
  reproduction?: Reproduction;
  readonly read: ReadEntries;
  /** The directory of the archive, once it was read. */
  entries: readonly ZipEntry[];
};

/** A bundle of which nothing is known yet but what lists it. */
export function newBundle(options: VerifyPartOptions): Bundle {
  const { listed, dsse } = options;
  return {
    ledger: createLedger(),
    settings: settingsOf(options, PART_OPTIONS),
    ...(listed === undefined ? {} : { listed }),
    envelopes: [...givenEnvelopes(dsse), ...(listed?.envelopes ?? [])],
    subject: listed?.row.evidenceBundleId ?? 'bundle',
    signed: listed?.row.signed,
    read: new Map(),
    entries: [],
    manifestBytes: 0,
    signers: [],
  };
}

const CONTENT_CHECKS: readonly CheckId[] = [
  'part.archive',
  'bundle.manifest',
  'bundle.row',
  'bundle.expected',
  'bundle.objects',
  'attestation.format',
  'attestation.key',
  'attestation.signature',
  'attestation.binding',
];

const SECOND_CHECKS: readonly CheckId[] = ['second.reader', 'second.crypto'];
/** Where the attestation alone is skipped, the second reader still comes. */
const SECOND: Readonly<Partial<Record<CheckId, readonly CheckId[]>>> = {
  'attestation.key': ['second.crypto'],
};

/** Records every check from `first` on that has no state yet as not checked. */
export function skipFrom({ ledger, envelopes, settings }: Bundle, first: CheckId, reason: string): void {
  const done = new Set(ledger.checks.map((check) => check.id));
  for (const id of CONTENT_CHECKS.slice(CONTENT_CHECKS.indexOf(first))) {
    if (!done.has(id)) ledger.skipped(id, 'not_checked', reason);
  }
  // What was asked for and did not happen is said; the reader follows even where the attestation is no good.
  const asked: readonly CheckId[] =
    settings.secondOpinion === undefined ? [] : (SECOND[first] ?? SECOND_CHECKS);
  for (const id of asked) if (!done.has(id)) ledger.skipped(id, 'not_checked', reason);
  // So do the envelopes, which are judged whatever the attestation is.
  if (envelopes.length > 0 && first !== 'attestation.key')
    ledger.skipped('dsse.attestation', 'not_checked', reason);
}
