import type { Code } from '../codes/index.ts';
import type { Finding } from '../verify/index.ts';
import { EXPORT_MANIFEST } from '../evidence/index.ts';

/** `extra` is no harm to what is there; `unreadable` says that nothing is known, not that it is wrong. */
export type ScrubFault = {
  readonly path: string;
  readonly found: 'damaged' | 'missing' | 'unreadable' | 'extra';
  readonly code: Code;
  readonly message: string;
  /** What came of a repair; absent where none was asked for. */
  readonly repair?: 'repaired' | { readonly code: Code; readonly message: string };
};

/** The result of the scrub of one mirror. Sizes are bytes. */
export type MirrorScrub = {
  readonly name: string;
  readonly evidenceExportId?: string;
  readonly manifestDigest?: string;
  /** `unread`: nothing wrong was found, and there was no time for all of it. `good`: all of it was read, now or within the age asked for. */
  readonly outcome: 'good' | 'damaged' | 'unreadable' | 'unread';
  /** Files of the mirror; those read now, those left alone for being young, and those that are due and were not read. */
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

/** The findings that a scrub tells: what is wrong, and what nobody lists. */
export const faultsOf = (findings: readonly Finding[], path = EXPORT_MANIFEST): ScrubFault[] =>
  findings
    .filter((one) => one.severity === 'error' || one.class === 'extra')
    .map((one) => ({
      path: one.path?.split('#')[0] ?? path,
      found: one.code === 'io.NOT_FOUND' ? 'missing' : (FOUND[one.class] ?? 'damaged'),
      code: one.code,
      message: one.message,
    }));

/**
 * What faults make of an outcome: what is wrong says more than what could not be read, and of a mirror of which files are
 * left nobody says that it is good.
 */
export function outcomeOf(faults: readonly ScrubFault[], left: number): MirrorScrub['outcome'] {
  const open = faults.filter(({ found, repair }) => found !== 'extra' && repair !== 'repaired');
  if (open.some(({ found }) => found !== 'unreadable')) return 'damaged';
  if (open.length > 0) return 'unreadable';
  return left > 0 ? 'unread' : 'good';
}
