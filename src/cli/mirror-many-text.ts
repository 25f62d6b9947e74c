import { codeEntry } from '../codes/index.ts';
import type { ArchiveOutcome, ExportFailure } from '../mirror/index.ts';
import { count, counted, size } from '../report/figures.ts';
import { adviceFor } from './failure.ts';
import type { MirrorTally } from './mirror-tally.ts';
import { talliedText, transferText } from './mirror-text.ts';
import { facts, table } from './table.ts';

/** What is told of exports that were not meant. */
export type Aside = { readonly left?: ReadonlyMap<string, number>; readonly older?: number };

type FailedFile = { readonly path: string; readonly code: string; readonly message: string };

/** Files of one export that are named; the receipt of the export has all. */
const MAX_FILES = 10;

/** What became of many exports, for programs. */
export function archiveJson(
  { exports, complete, untried, failures, moreFailures }: ArchiveOutcome,
  totals: MirrorTally,
  { left = new Map<string, number>(), older = 0 }: Aside,
): Readonly<Record<string, unknown>> {
  const { files, states, bytes, moved, retries, transferMs } = totals;
  return {
    kind: 'mirror.archive',
    exports,
    complete,
    failed: failures.length + moreFailures,
    untried,
    older,
    left: Object.fromEntries(left),
    transfer: { files, ...states, bytes, transferredBytes: moved, retries, transferMs },
    failures: failures.map((failure) => ({
      evidenceExportId: failure.evidenceExportId,
      code: failure.error.code,
      message: failure.error.message,
      action: codeEntry(failure.error.code).action,
      files: filesOf(failure),
    })),
  };
}

/** Likewise for people: what there is of everything first, and last what failed and what to do about it. */
export function archiveText(
  outcome: ArchiveOutcome,
  totals: MirrorTally,
  { left = new Map<string, number>(), older = 0 }: Aside,
): string {
  const { exports, complete, untried, failures, moreFailures } = outcome;
  const failed = failures.length + moreFailures;
  return [
    facts([
      [
        'exports',
        `${count(exports)}: ${count(complete)} complete, ${count(failed)} failed, ${count(untried)} untried`,
      ],
      [
        'left',
        left.size === 0 ? undefined : [...left].map(([state, times]) => `${times} ${state}`).join(', '),
      ],
      ['older', older === 0 ? undefined : counted(older, 'export')],
      [
        'files',
        totals.files === 0
          ? undefined
          : `${count(totals.done)} of ${counted(totals.files, 'file')}, ${size(totals.bytes)} (${talliedText(totals)})`,
      ],
      ['transfer', transferText(totals)],
    ]),
    failures.length === 0 ? '' : failuresText(failures, moreFailures),
  ].join('');
}

function failuresText(failures: readonly ExportFailure[], moreFailures: number): string {
  const more = moreFailures === 0 ? '' : `and ${counted(moreFailures, 'failure')} more\n`;
  const rows = failures.flatMap((failure) => [
    [failure.evidenceExportId, failure.error.code, failure.error.message],
    ...fileRows(filesOf(failure)),
  ]);
  const faults = failures.flatMap((failure) => [failure.error, ...filesOf(failure)]);
  const advice = adviceFor(faults).map((line) => `${line}\n`);
  return `\n${table(['failed', 'code', 'why'], rows)}${more}\n${advice.join('')}`;
}

function fileRows(files: readonly FailedFile[]): readonly (readonly string[])[] {
  const more = files.length - MAX_FILES;
  return [
    ...files.slice(0, MAX_FILES).map(({ path, code, message }) => [`  ${path}`, code, message]),
    ...(more > 0 ? [[`  and ${counted(more, 'file')} more`, '', '']] : []),
  ];
}

function filesOf({ error: { details } }: ExportFailure): readonly FailedFile[] {
  const failures: unknown = details?.['failures'];
  return Array.isArray(failures) ? failures.filter(isFailedFile) : [];
}

const isFailedFile = (value: unknown): value is FailedFile =>
  typeof value === 'object' && value !== null && 'path' in value && 'code' in value && 'message' in value;
