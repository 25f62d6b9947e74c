import type { Digest } from '../bytes/index.ts';
import type { Code } from '../codes/index.ts';
import type { BundleReport, ExportReport, Finding } from '../verify/index.ts';

/** The content of a verification summary, and the key that signed it. */
export type SummaryFacts = {
  readonly verifierId: string;
  readonly result: 'PASSED' | 'FAILED';
  readonly timeVerifiedMs: number;
  readonly policyDigest: Digest;
  /** Digests of the manifests of everything it covers. */
  readonly inputs: readonly Digest[];
  /** Thumbprints of the trusted keys of purpose `summary` that signed it. */
  readonly thumbprints: readonly Digest[];
  /** The findings about its envelope. */
  readonly findings: readonly Finding[];
};

/** Why an input could not be verified. */
export type ReadFailure = { readonly code: Code; readonly message: string; readonly path?: string };

/**
 * One input of `evaluate`: the report of its verification, a summary, or why there is neither (formats §8). `name` is
 * chosen by the caller, such as a path.
 */
export type EvidenceInput = { readonly name: string } & (
  | {
      readonly report: ExportReport | BundleReport;
      /** The caller pinned the manifest of this single part. The report on an export has that itself. */
      readonly pinned?: boolean;
    }
  | { readonly summary: SummaryFacts }
  | { readonly failure: ReadFailure }
);
