import type { Digest } from '../bytes/hash.ts';
import type { Code } from '../codes/index.ts';
import type { Finding } from '../verify/finding.ts';
import type { BundleReport, ExportReport } from '../verify/report.ts';

/** What a verification summary says, and whose word it is. */
export type SummaryFacts = {
  readonly verifierId: string;
  readonly result: 'PASSED' | 'FAILED';
  readonly timeVerifiedMs: number;
  readonly policyDigest: Digest;
  /** Digests of the manifests of everything that it is about. */
  readonly inputs: readonly Digest[];
  /** Thumbprint of the key of purpose `summary` that vouches for it; absent when none does. */
  readonly thumbprint?: Digest;
  /** What the check of its envelope found. */
  readonly findings: readonly Finding[];
};

/** Why something could not be judged. */
export type ReadFailure = { readonly code: Code; readonly message: string; readonly path?: string };

/** One thing that is given to be judged: the report of its verification, a summary, or why there is neither. */
export type EvidenceInput = { readonly name: string } & (
  | {
      readonly report: ExportReport | BundleReport;
      /** The caller named the digest of the manifest of a single part, and it has it. An export says so itself. */
      readonly pinned?: boolean;
    }
  | { readonly summary: SummaryFacts }
  | { readonly failure: ReadFailure }
);
