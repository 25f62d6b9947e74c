import { type Digest, type MembersOf, OBJECT, optional } from '../../bytes/index.ts';
import type { Attestation, Reproduction, RunResult } from '../../contract/index.ts';
import type { BundleManifest, PartRow } from '../../evidence/index.ts';
import type { ZipEntry } from '../../zip/index.ts';
import { createLedger, skipAll, type Ledger } from '../check.ts';
import { checksWaitingFor, type CheckId } from '../checks.ts';
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

/** The options of `verifyPart`: those of every verification, and what lists the part. */
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

/** The checks on request that the caller requested. */
export const requestedChecks = ({
  envelopes,
  settings,
}: Pick<Bundle, 'envelopes' | 'settings'>): CheckId[] => [
  ...(envelopes.length > 0 ? (['dsse.attestation'] as const) : []),
  ...(settings.secondOpinion === undefined ? [] : (['second.reader', 'second.crypto'] as const)),
];

/** Records every check that waits for `check`, and has no state yet, as not checked. */
export const skipWaiting = (bundle: Bundle, check: CheckId, reason: string): void =>
  skipAll(bundle.ledger, checksWaitingFor(check, requestedChecks(bundle)), 'not_checked', reason);
