import type { Code } from '../codes/catalogue.ts';
import { DrillproofError } from '../errors.ts';
import type { Finding } from '../verify/report.ts';
import { EXPORT_MANIFEST } from '../evidence/export/pack-export.ts';

/** `extra` does not affect the evidence; an `unreadable` file could be right or wrong. */
export type ScrubFault = {
  readonly path: string;
  readonly found: 'damaged' | 'missing' | 'unreadable' | 'extra';
  readonly code: Code;
  readonly message: string;
  /** The result of a repair; absent if none was requested. */
  readonly repair?: 'repaired' | { readonly code: Code; readonly message: string };
};

/** The result of the scrub of one mirror. Sizes are bytes. */
export type MirrorScrub = {
  readonly name: string;
  readonly evidenceExportId?: string;
  readonly manifestDigest?: string;
  /** `unread` if no fault was found but the time ended; `good` if all files were read, now or recently enough. */
  readonly outcome: 'good' | 'damaged' | 'unreadable' | 'unread';
  /** Files of the mirror: those read now, those skipped as young, and those that are due and were not read. */
  readonly files: number;
  readonly read: number;
  readonly readBytes: number;
  readonly young: number;
  readonly left: number;
  readonly leftBytes: number;
  readonly faults: readonly ScrubFault[];
};

const FOUND: Readonly<Partial<Record<Finding['class'], ScrubFault['found']>>> = {
  missing: 'missing',
  inaccessible: 'unreadable',
  extra: 'extra',
};

/** Converts the findings that a scrub reports: errors, and files that are not listed. */
export const toFaults = (findings: readonly Finding[], path = EXPORT_MANIFEST): ScrubFault[] =>
  findings
    .filter(({ severity, class: kind }) => severity === 'error' || kind === 'extra')
    .map((finding) => ({
      path: finding.path?.split('#')[0] ?? path,
      found: finding.code === 'io.NOT_FOUND' ? 'missing' : (FOUND[finding.class] ?? 'damaged'),
      code: finding.code,
      message: finding.message,
    }));

/** Damage counts more than unreadable files, and a mirror with unread files is never good. */
export function decideOutcome(faults: readonly ScrubFault[], left: number): MirrorScrub['outcome'] {
  const open = faults.filter(({ found, repair }) => found !== 'extra' && repair !== 'repaired');
  if (open.some(({ found }) => found !== 'unreadable')) return 'damaged';
  if (open.length > 0) return 'unreadable';
  return left > 0 ? 'unread' : 'good';
}

/** Calls `read`; returns `undefined` if it fails with a code. */
export async function ifReadable<T>(read: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}
