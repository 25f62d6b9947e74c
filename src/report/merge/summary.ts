import { type Code, type CodeClass, codeEntry, type Severity } from '../../codes/index.ts';
import { type BundleReport, type ExportReport, type Verdict, VERDICTS } from '../../verify/index.ts';
import { caveatsOf } from '../text/caveats.ts';

/** One path of a run over many: its report, or the code of what kept it from being judged. */
export type Judged = {
  readonly path: string;
  /** Whether it passed by the rules of the caller, who may accept `intact` or require coverage. */
  readonly passed: boolean;
} & ({ readonly report: ExportReport | BundleReport } | { readonly failure: { readonly code: Code } });

/** One code with how much it was found in. */
export type Cause = {
  readonly code: Code;
  readonly class: CodeClass;
  readonly severity: Severity;
  /** Exports, bundles, reports and paths that it is about, each once. */
  readonly subjects: number;
  readonly times: number;
  /** The first few of the subjects. */
  readonly first: readonly { readonly path: string; readonly subject: string }[];
};

/** An export that lies under more than one path. */
export type Copies = {
  readonly evidenceExportId: string;
  readonly times: number;
  /** Whether all have the manifest of the first; an export that is available never changes. */
  readonly same: boolean;
  /** The first few of the paths. */
  readonly paths: readonly string[];
};

/** What many reports say together. It holds a few cases of each cause, however many there are. */
export type Summary = {
  readonly judged: number;
  readonly passed: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Paths without a report. */
  readonly unreadable: number;
  readonly causes: readonly Cause[];
  readonly copies: readonly Copies[];
};

/** One path that did not pass, as it is repeated at the end. */
export type NotPassed = { readonly path: string; readonly word: string; readonly code?: Code };

export type SummaryCollector = {
  readonly add: (judged: Judged) => void;
  readonly summary: () => Summary;
  /** The first paths that did not pass, at most 50. */
  readonly notPassed: readonly NotPassed[];
  /** What the passes do not mean. */
  readonly caveats: ReadonlySet<string>;
};

const FIRST = 5;
const MAX_NOT_PASSED = 50;
const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type OpenCause = Mutable<Omit<Cause, 'first'>> & { readonly first: Cause['first'][number][] };
type OpenCopies = Mutable<Omit<Copies, 'paths'>> & { readonly paths: string[]; readonly digest: string };

/** Collects a summary while reports come and go, so that none of them has to be kept. */
export function createSummary(): SummaryCollector {
  const verdicts: Record<Verdict, number> = { verified: 0, intact: 0, incomplete: 0, failed: 0 };
  const causes = new Map<Code, OpenCause>();
  const exports = new Map<string, OpenCopies>();
  const notPassed: NotPassed[] = [];
  const caveats = new Set<string>();
  let judged = 0;
  let passed = 0;
  let unreadable = 0;

  return {
    notPassed,
    caveats,
    add(one) {
      judged++;
      if (one.passed) passed++;
      else if (notPassed.length < MAX_NOT_PASSED) notPassed.push(notPassedOf(one));
      if ('failure' in one) {
        unreadable++;
        return countCause(causes, one.failure.code, one.path, new Map([[one.path, 1]]));
      }
      verdicts[one.report.verdict]++;
      for (const [code, subjects] of subjectsByCode(one.report)) countCause(causes, code, one.path, subjects);
      if (one.passed) for (const text of caveatsOfReport(one.report)) caveats.add(text);
      if (one.report.kind === 'export') countCopy(exports, one.path, one.report);
    },
    summary: () => ({
      judged,
      passed,
      verdicts,
      unreadable,
      causes: [...causes.values()].toSorted(bySeverity),
      copies: [...exports.values()]
        .filter(({ times }) => times > 1)
        .map(({ digest: _digest, ...copies }) => copies),
    }),
  };
}

const caveatsOfReport = (report: ExportReport | BundleReport): readonly string[] =>
  report.kind === 'export' ? caveatsOf('export', report) : caveatsOf('bundle', report);

const findingsOfReport = (report: ExportReport | BundleReport) =>
  report.kind === 'bundle'
    ? report.findings
    : [report, ...report.parts, ...report.localReports].flatMap(({ findings }) => findings);

/** How often each code speaks of each subject of a report. */
function subjectsByCode(report: ExportReport | BundleReport): Map<Code, Map<string, number>> {
  const codes = new Map<Code, Map<string, number>>();
  for (const { code, subject } of findingsOfReport(report)) {
    const subjects = codes.get(code) ?? new Map<string, number>();
    codes.set(code, subjects.set(subject, (subjects.get(subject) ?? 0) + 1));
  }
  return codes;
}

function countCause(
  causes: Map<Code, OpenCause>,
  code: Code,
  path: string,
  subjects: ReadonlyMap<string, number>,
): void {
  const { class: codeClass, severity } = codeEntry(code);
  const cause = causes.get(code) ?? { code, class: codeClass, severity, subjects: 0, times: 0, first: [] };
  causes.set(code, cause);
  for (const [subject, times] of subjects) {
    cause.subjects++;
    cause.times += times;
    if (cause.first.length < FIRST) cause.first.push({ path, subject });
  }
}

function countCopy(exports: Map<string, OpenCopies>, path: string, report: ExportReport): void {
  const { evidenceExportId, manifestDigest } = report;
  if (evidenceExportId === undefined || manifestDigest === undefined) return;
  const known = exports.get(evidenceExportId);
  if (known === undefined) {
    exports.set(evidenceExportId, {
      evidenceExportId,
      times: 1,
      same: true,
      paths: [path],
      digest: manifestDigest,
    });
    return;
  }
  known.times++;
  if (known.digest !== manifestDigest) known.same = false;
  if (known.paths.length < FIRST) known.paths.push(path);
}

function notPassedOf(one: Judged): NotPassed {
  const { path } = one;
  if ('failure' in one) return { path, word: 'not checked', code: one.failure.code };
  const code = findingsOfReport(one.report).find(({ severity }) => severity === 'error')?.code;
  return { path, word: one.report.verdict, ...(code !== undefined && { code }) };
}

const bySeverity = (a: Cause, b: Cause): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
  b.subjects - a.subjects ||
  (a.code < b.code ? -1 : 1);

/** `2 verified, 1 failed, 1 not checked`, best first. */
export const verdictWords = ({ verdicts, unreadable }: Summary): readonly string[] => [
  ...VERDICTS.filter((verdict) => verdicts[verdict] > 0).map((verdict) => `${verdicts[verdict]} ${verdict}`),
  ...(unreadable > 0 ? [`${unreadable} not checked`] : []),
];
