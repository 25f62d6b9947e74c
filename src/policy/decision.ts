import type { Digest } from '../bytes/hash.ts';
import type { Code } from '../codes/index.ts';
import type { Completeness, TrustUsed, Verdict } from '../verify/report.ts';
import type { RuleId } from './rules.ts';

/** What a policy answers about evidence, best first. `could_not_tell` never counts as yes. */
export const ANSWERS = ['yes', 'no', 'could_not_tell'] as const;
export type Answer = (typeof ANSWERS)[number];

/**
 * How a rule ended over all subjects that it speaks of. `waived`: everything that it found is waived; `not_checked`: what
 * it needs could not be read or is not attested; `not_applicable`: there is nothing that it speaks of, and the rule
 * allows that.
 */
export type RuleState = 'passed' | 'failed' | 'waived' | 'not_checked' | 'not_applicable';

/** A waiver of the policy, as a person wrote it. */
export type WaiverUsed = {
  readonly reason: string;
  readonly owner: string;
  /** The first ms at which it counts no more. */
  readonly expiresAtMs: number;
};

/** One thing that stands against the policy, or that could not be told. */
export type Violation = {
  readonly rule: RuleId;
  /** `not_checked`: it could not be told whether the rule holds here. */
  readonly state: 'failed' | 'not_checked' | 'waived';
  readonly code: Code;
  /** The place of the input in `inputs`; absent for what all of them together lack. */
  readonly input?: number;
  /** What it is about: the id of an export, bundle, local report or drill; a name where no id could be read; `all`. */
  readonly subject: string;
  /** The file or entry, where there is one. */
  readonly path?: string;
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The codes of the findings of the verification that led here; none for a rule that judges facts. */
  readonly findings?: readonly Code[];
  readonly waiver?: WaiverUsed;
};

/** What became of one rule of the policy. */
export type RuleResult = {
  readonly rule: RuleId;
  readonly state: RuleState;
  /** How many subjects it looked at. */
  readonly judged: number;
  readonly violations: readonly Violation[];
};

/** One thing that was judged: evidence, or a verification summary in its place. */
export type JudgedInput = {
  /** As the caller named it: a path, an address, the id of an export at a control plane. */
  readonly name: string;
  readonly kind: 'export' | 'bundle' | 'summary' | 'unreadable';
  readonly id?: string;
  readonly projectId?: string;
  /** SHA-256 of the manifest of an export, of the manifest of a bundle; absent when it could not be read. */
  readonly manifestDigest?: Digest;
  /** SHA-256 of the archive of a single part. */
  readonly archiveDigest?: Digest;
  readonly verdict?: Verdict;
  readonly completeness?: Completeness;
  readonly bundles: number;
  readonly localReports: number;
};

/** Which policy was applied: its own digest and those of what it extends, in the order in which they were read. */
export type PolicyUsed = {
  /** `default`: none was written. */
  readonly name: string;
  /** SHA-256 of the RFC 8785 form of the whole policy with everything that it extends. */
  readonly digest: Digest;
  readonly sources: readonly { readonly path: string; readonly digest: Digest }[];
};

/** The answer of a policy about evidence, with every reason. The same inputs give the same decision. */
export type Decision = {
  readonly schemaVersion: 1;
  readonly kind: 'decision';
  readonly answer: Answer;
  readonly asOfMs: number;
  readonly policy: PolicyUsed;
  /** Absent when none was given. */
  readonly trust?: TrustUsed;
  readonly inputs: readonly JudgedInput[];
  /** Every rule of the policy, in the order of `RULES`. */
  readonly rules: readonly RuleResult[];
  /** Waivers that met nothing, or that expired: each is somebody's open end. */
  readonly unusedWaivers: readonly (WaiverUsed & { readonly code: Code; readonly subject: string })[];
};
