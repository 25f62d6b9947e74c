import type { Code } from '../codes/index.ts';
import type { BundleReport, Listing, VerifyOptions } from '../verify/index.ts';
import type { TrustedKey } from '../trust/index.ts';

/** Options that a thread gets as they are. */
export type SharedOptions = Omit<VerifyOptions, 'trust' | 'secondOpinion' | 'signal'>;

/** What every job of a pool shares: the options of the verification, in a form that crosses threads. */
export type PoolSettings = SharedOptions & {
  /** The folder of the export; each thread opens the parts below it itself. */
  readonly root: string;
  readonly trustedKeys?: readonly TrustedKey[];
  readonly secondOpinion: boolean;
};

/** One part to verify: its path in the export and the row that lists it. */
export type PoolJob = { readonly path: string; readonly listed: Listing };

/** The result of a thread: the report, or the error that prevented it. */
export type PoolAnswer =
  | { readonly report: BundleReport }
  | { readonly error: { readonly code: Code; readonly message: string; readonly path?: string } };
