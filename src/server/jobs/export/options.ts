import type { ExportSigning } from '../../../evidence/index.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import type { Store } from '../../store/store.ts';

/** Kind of the operation that generates an export. */
export const EXPORT_KIND = 'evidence.export';

export type ExportJobOptions = {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now: () => number;
  /** Signs the export attestation; without it an export is unsigned. */
  readonly signing?: Pick<ExportSigning, 'signer' | 'issuer'> | undefined;
  /** Bundles, and local reports, that one export may hold. */
  readonly maxItems: number;
  /** How often the counts of the resource follow the work. */
  readonly progressMs?: number;
};
