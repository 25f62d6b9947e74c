import type { Digest } from '../../bytes/index.ts';
import type { EvidenceSource, ExportManifest, SourceFile } from '../../evidence/index.ts';
import { checkBag } from './bag.ts';
import { createLedger } from '../check.ts';
import { checkMirrorFiles } from './export.ts';
import {
  checkExpected,
  checkExportAttestation,
  checkManifest,
  checkResource,
  checkSelection,
} from './documents.ts';
import { checkFiles, listFiles } from './files.ts';
import type { Export } from './state.ts';
import { settingsOf, type VerifyOptions } from '../options.ts';
import type { Check, Finding, SignedBy } from '../report.ts';

/** What an export says of itself, judged without a look into its parts and reports. */
export type ExportTreeReport = {
  /** Absent when it cannot be read, or is none. */
  readonly manifest?: ExportManifest;
  readonly manifestDigest?: Digest;
  /** Who signed the export attestation, when a trusted key did. */
  readonly signer?: SignedBy;
  /** Every file of the tree; none where it could not be listed. */
  readonly files: readonly SourceFile[];
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
};

/**
 * The first steps of `verifyExport`: the documents, who vouches for them, the set of files, the bag around it, and what
 * a mirror added. Parts and reports are not read: that each is what its row says is for who reads them.
 * Never throws for what is in the bytes; an aborted `signal` throws.
 */
export async function verifyExportTree(
  source: EvidenceSource,
  options: VerifyOptions,
): Promise<ExportTreeReport> {
  const state: Export = {
    source,
    settings: settingsOf(options),
    ledger: createLedger(),
    envelopes: [],
    completeness: 'claimed',
  };
  const files = await listFiles(state);
  if (files !== undefined) {
    await checkManifest(state, files);
    checkExpected(state);
    await checkResource(state, files);
    checkSelection(state);
    await checkExportAttestation(state, files);
    checkFiles(state, files);
    await checkBag(state, listedDigests(state));
    await checkMirrorFiles(state, files);
  }
  const { ledger, manifest, manifestDigest, signer } = state;
  return {
    ...(manifest && { manifest }),
    ...(manifestDigest && { manifestDigest }),
    ...(signer && { signer }),
    files: files?.all ?? [],
    checks: ledger.checks,
    findings: ledger.findings,
  };
}

/** What a bag has to state of the files that the manifest lists. */
function listedDigests({ manifest }: Export): ReadonlyMap<string, Digest> {
  const rows = [...(manifest?.parts ?? []), ...(manifest?.localReports ?? [])];
  return new Map(rows.map(({ path, digest }) => [path, digest as Digest]));
}
