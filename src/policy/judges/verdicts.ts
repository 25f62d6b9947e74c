import { codeEntry, type Code } from '../../codes/index.ts';
import type { Finding } from '../../verify/finding.ts';
import type { BundleReport, ExportReport, Verdict } from '../../verify/report.ts';
import type { Facts, Place, UnreadFact } from '../facts.ts';
import { failure, unknown, type Cause, type Found, type Judge } from '../judge.ts';

type Required = 'verified' | 'intact';

const meets = (verdict: Verdict, required: Required): boolean =>
  verdict === 'verified' || verdict === required;

/** The export, and everything in it, has the required verdict. */
export const exportVerdict =
  (required: Required): Judge =>
  (facts) => ({
    judged: facts.exports.length,
    found: facts.exports.flatMap(
      ({ report, ...place }) =>
        judge(place, report, required, facts, () => causesOfExport(report, place.subject, required)) ?? [],
    ),
  });

/** Every bundle has the required verdict; what could not even be opened is counted here. */
export const bundleVerdicts =
  (required: Required): Judge =>
  (facts) => ({
    judged: facts.bundles.length + facts.unread.length,
    found: [
      ...facts.unread.map(unread),
      ...facts.bundles.flatMap(
        ({ report, input, subject }) =>
          judge({ input, subject }, report, required, facts, () =>
            causesOf(report.findings, subject, required),
          ) ?? [],
      ),
    ],
  });

function judge(
  place: Place,
  report: ExportReport | BundleReport,
  required: Required,
  { asOfMs }: Facts,
  causesHere: () => readonly Cause[],
): Found | undefined {
  if (report.depth !== 'full') return unknown(place, 'only digests were looked at');
  if (report.asOfMs !== asOfMs) return unknown(place, 'it was verified as of another time');
  if (meets(report.verdict, required)) return undefined;
  const causes = causesHere();
  const codes = [...new Set(causes.map(({ code }) => code))];
  const values = { expected: required, actual: report.verdict, ...(codes.length > 0 && { findings: codes }) };
  const message = `the verdict is ${report.verdict}`;
  if (report.verdict === 'incomplete') return { ...unknown(place, message), ...values };
  return failure(place, message, { ...values, ...(causes.length > 0 && { causes }) });
}

/** Why a verdict is as low as it is: the errors, and what keeps intact bytes from being verified where that is required. */
const causesOf = (findings: readonly Finding[], subject: string, required: Required): readonly Cause[] =>
  findings
    .filter(
      ({ code, severity }) => severity === 'error' || (required === 'verified' && KEEPS_INTACT.has(code)),
    )
    .map(({ code }) => ({ subject, code }));

const KEEPS_INTACT: ReadonlySet<Code> = new Set(['bundle.UNSIGNED', 'trust.STORE_ABSENT']);

const causesOfExport = (report: ExportReport, subject: string, required: Required): readonly Cause[] => [
  ...causesOf(report.findings, subject, required),
  ...report.parts.flatMap((part) =>
    causesOf(part.findings, part.evidenceBundleId ?? part.path ?? 'bundle', required),
  ),
  ...report.localReports.flatMap((local) => causesOf(local.findings, local.localReportId, required)),
];

const UNSEEN = new Set(['inaccessible', 'missing', 'usage', 'refused', 'internal']);

function unread({ failure: { code, message, path }, ...place }: UnreadFact): Found {
  const seen =
    !UNSEEN.has(codeEntry(code).class) && !code.startsWith('control.') && !code.startsWith('transport.');
  return {
    ...unknown(place, message),
    state: seen ? 'failed' : 'not_checked',
    findings: [code],
    ...(path !== undefined && { path }),
  };
}
