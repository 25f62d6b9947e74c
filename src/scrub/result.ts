import { defined } from '../bytes/arguments.ts';
import type { Code } from '../codes/catalogue.ts';
import { codeFacts } from '../codes/facts.ts';
import { DrillproofError } from '../errors.ts';
import type { Acknowledgement } from '../mirror/inventory.ts';
import { finding } from '../verify/finding.ts';
import type { Finding } from '../verify/report.ts';
import { EXPORT_MANIFEST } from '../evidence/export/pack-export.ts';

/** An `unreadable` file could be right or wrong. */
export type ScrubFault = {
  readonly path: string;
  readonly found: 'damaged' | 'missing' | 'unreadable' | 'extra';
  readonly code: Code;
  readonly message: string;
  /** The digest or value that it should have, if one is known. */
  readonly expected?: string;
  /** Who accepted it, if exactly this was acknowledged. It then fails nothing. */
  readonly acknowledged?: Pick<Acknowledgement, 'by' | 'reason' | 'atMs'>;
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
  /** Files of the mirror: those read now, those skipped as read recently, and those that are due and were not read. */
  readonly files: number;
  readonly read: number;
  readonly readBytes: number;
  readonly recent: number;
  readonly unread: number;
  readonly unreadBytes: number;
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
    .map(({ code, class: kind, message, path: place, expected }) => ({
      path: place?.split('#')[0] ?? path,
      found: code === 'io.NOT_FOUND' ? 'missing' : (FOUND[kind] ?? 'damaged'),
      code,
      message,
      ...defined({ expected }),
    }));

/** Compares the name of a mirror with the export in it. */
export function checkName(
  name: string | undefined,
  mirror: { readonly evidenceExportId?: string | undefined } | undefined,
): readonly Finding[] {
  const actual = mirror?.evidenceExportId;
  if (name === undefined || actual === undefined || actual === name) return [];
  const message = `the mirror named ${name} is of ${actual}`;
  return [
    finding('scrub.NAME_MISMATCH', 'export', { path: EXPORT_MANIFEST, message, expected: name, actual }),
  ];
}

/** The finding about a mirror of which only a name or an empty folder exists. */
export function missingFinding(place: string): Finding {
  const message = `${place} has no file: the folder is empty or does not exist`;
  return finding('scrub.MIRROR_MISSING', 'export', { message });
}

/** Whether a fault is more than a remark about a file next to the evidence. */
export const isError = ({ code }: Pick<ScrubFault, 'code'>): boolean => codeFacts(code).severity === 'error';

/** Damage counts more than unreadable files, and a mirror with unread files is never good. */
export function decideOutcome(faults: readonly ScrubFault[], unread: number): MirrorScrub['outcome'] {
  const open = faults.filter(
    (fault) => isError(fault) && fault.repair !== 'repaired' && fault.acknowledged === undefined,
  );
  if (open.some(({ found }) => found !== 'unreadable')) return 'damaged';
  if (open.length > 0) return 'unreadable';
  return unread > 0 ? 'unread' : 'good';
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
