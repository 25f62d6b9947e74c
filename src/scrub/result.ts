import { defined } from '../bytes/arguments.ts';
import { codeFacts } from '../codes/facts.ts';
import { DrillproofError } from '../errors.ts';
import { finding } from '../verify/finding.ts';
import type { MirrorScrub, ScrubFault } from '../report/many/scrubs.ts';
import type { Finding } from '../verify/report.ts';
import { EXPORT_MANIFEST } from '../evidence/export/pack-export.ts';

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
