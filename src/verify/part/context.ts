import { defined, type MembersOf, OBJECT, optional } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import type { BundleManifest } from '../../evidence/bundle/manifest.ts';
import type { PartRow } from '../../evidence/export/manifest.ts';
import type { ZipArchive } from '../../zip/read/open.ts';
import { listWaitingChecks, type CheckId } from '../checks.ts';
import type { Stamp } from '../report.ts';
import { resolveSettings, VERIFY_OPTIONS, type Settings, type VerifyOptions } from '../options.ts';
import { ENVELOPES, readEnvelopeOptions, type Envelopes, type GivenEnvelope } from '../signature/dsse.ts';
import { endRemaining, joinSteps, type Step } from '../step.ts';

/** The facts of the export manifest about a part. Without them a part is verified alone. */
export type Listing = {
  readonly row: PartRow;
  readonly organizationId: string;
  readonly fromAtMs: number;
  readonly throughAtMs: number;
  /** A trusted key signed the list, and with it the digest of the whole archive. */
  readonly listAttested?: true;
  /** A timestamp of the list: the archive existed no later. */
  readonly stamp?: Stamp;
  /** Envelopes about this bundle from the caller, verified with the part. */
  readonly envelopes?: readonly GivenEnvelope[];
};

/** The options of `verifyPart`: those of every verification, and the row that lists the part. */
export type VerifyPartOptions = VerifyOptions & {
  readonly listed?: Listing;
  /**
   * DSSE envelopes about this bundle, at most 10,000, each of which has to verify. They replace the attestation of a
   * part that has none (formats §2, DSSE).
   */
  readonly dsse?: Envelopes;
};

const PART_OPTIONS: MembersOf<VerifyPartOptions> = {
  ...VERIFY_OPTIONS,
  listed: optional(OBJECT),
  dsse: optional(ENVELOPES),
};

export type PartContext = {
  readonly settings: Settings;
  readonly listed?: Listing;
  readonly envelopes: readonly GivenEnvelope[];
  /** The earliest timestamp of the archive or of the list. */
  readonly stamp?: Stamp | undefined;
  /** The subject of findings: the id in the row, until the manifest is read. */
  readonly subject: string;
};

/** The context of the steps after `bundle.manifest`. */
export type BundleContext = PartContext & {
  readonly archive: ZipArchive;
  readonly manifest: BundleManifest;
  readonly manifestDigest: Digest;
};

/** Size and digest of an entry of an archive, as it was read. */
export type ReadEntry = { readonly bytes: number; readonly digest: Digest };

/** The context of a part that is verified alone. @throws what `resolveSettings` throws */
export const resolvePartContext = (options: VerifyPartOptions): PartContext =>
  createPartContext(resolveSettings(options, PART_OPTIONS), options);

export function createPartContext(
  settings: Settings,
  { listed, dsse }: Pick<VerifyPartOptions, 'listed' | 'dsse'>,
): PartContext {
  const envelopes = [...readEnvelopeOptions(dsse), ...(listed?.envelopes ?? [])];
  return defined({ settings, listed, envelopes, subject: listed?.row.evidenceBundleId ?? 'bundle' });
}

/** The checks that wait for `check`, including the requested ones. */
export const listWaitingPartChecks = (
  check: CheckId,
  { envelopes, settings }: PartContext,
): readonly CheckId[] =>
  listWaitingChecks(check, {
    envelopes: envelopes.length > 0,
    secondOpinion: settings.secondOpinion !== undefined,
  });

/** Ends a verification after these steps: every remaining check of a bundle stays open for this reason. */
export const stopSteps = (part: PartContext, steps: readonly Step[], reason: string): Step =>
  endRemaining(joinSteps(steps), listWaitingPartChecks('part.bytes', part), 'not_checked', reason);
