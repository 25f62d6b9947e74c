import type { Digest } from '../../bytes/index.ts';
import type { EvidenceExport } from '../../contract/index.ts';
import type { EvidenceSource, ExportManifest } from '../../evidence/index.ts';
import type { Ledger } from '../check.ts';
import type { GivenEnvelope, SortedEnvelopes } from '../signature/given-envelopes.ts';
import type { Settings } from '../options.ts';
import type { Completeness, SignedBy } from '../report.ts';

/** What is known of an export while its verification goes on. */
export type Export = {
  readonly source: EvidenceSource;
  readonly settings: Settings;
  readonly ledger: Ledger;
  /** What the caller gave beside the export. */
  readonly envelopes: readonly GivenEnvelope[];
  /** The same by what they are about, once there is a manifest. */
  sorted?: SortedEnvelopes;
  manifest?: ExportManifest;
  manifestDigest?: Digest;
  manifestBytes?: number;
  resource?: EvidenceExport;
  completeness: Completeness;
  signer?: SignedBy;
};

/** The subject of findings about the export itself. */
export const EXPORT = 'export';
