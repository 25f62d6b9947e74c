import { defined } from '../../bytes/index.ts';
import { type Code, codeFacts } from '../../codes/index.ts';
import type { BundleReport, ExportReport, Finding, Verdict } from '../../verify/index.ts';
import type { Facts, Place, UnreadFact } from '../facts.ts';
import { buildFailure, buildUnknown, type Cause, type Evaluator, type Problem } from './outcome.ts';

type Required = 'verified' | 'intact';

const meets = (verdict: Verdict, required: Required): boolean =>
  verdict === 'verified' || verdict === required;

/** The export with everything in it has the required verdict. */
export const requireExportVerdict =
  (required: Required): Evaluator =>
  (facts) => ({
    judged: facts.exports.length,
    problems: facts.exports.flatMap(
      ({ report, ...place }) => checkVerdict(place, report, required, facts) ?? [],
    ),
  });

/** Every bundle has the required verdict, and every input could be read. */
export const requireBundleVerdicts =
  (required: Required): Evaluator =>
  (facts) => ({
    judged: facts.bundles.length + facts.unread.length,
    problems: [
      ...facts.unread.map(reportUnread),
      ...facts.bundles.flatMap(
        ({ report, input, subject }) => checkVerdict({ input, subject }, report, required, facts) ?? [],
      ),
    ],
  });

function checkVerdict(
  place: Place,
  report: ExportReport | BundleReport,
  required: Required,
  { asOfMs }: Facts,
): Problem | undefined {
  if (report.depth !== 'full') return buildUnknown(place, 'only digests were compared');
  if (report.asOfMs !== asOfMs) return buildUnknown(place, 'it was verified as of a different time');
  if (meets(report.verdict, required)) return undefined;
  const causes = listCauses(report, place.subject, required);
  const codes = [...new Set(causes.map(({ code }) => code))];
  const findings = codes.length > 0 ? codes : undefined;
  const values = { expected: required, actual: report.verdict, ...defined({ findings }) };
  const message = `the verdict is ${report.verdict}`;
  if (report.verdict === 'incomplete') return { ...buildUnknown(place, message), ...values };
  return buildFailure(place, message, {
    ...values,
    ...defined({ causes: causes.length > 0 ? causes : undefined }),
  });
}

/** Why a verdict is too low: the errors and, if `verified` is required, what keeps intact bytes from it. */
const selectCauses = (findings: readonly Finding[], subject: string, required: Required): readonly Cause[] =>
  findings
    .filter(
      ({ code, severity }) => severity === 'error' || (required === 'verified' && KEEPS_INTACT.has(code)),
    )
    .map(({ code }) => ({ subject, code }));

const KEEPS_INTACT: ReadonlySet<Code> = new Set(['bundle.UNSIGNED', 'trust.STORE_ABSENT']);

function listCauses(
  report: ExportReport | BundleReport,
  subject: string,
  required: Required,
): readonly Cause[] {
  const causes = selectCauses(report.findings, subject, required);
  if (report.kind === 'bundle') return causes;
  return [
    ...causes,
    ...report.parts.flatMap((part) =>
      selectCauses(part.findings, part.evidenceBundleId ?? part.path ?? 'bundle', required),
    ),
    ...report.localReports.flatMap((local) => selectCauses(local.findings, local.localReportId, required)),
  ];
}

const UNREAD = new Set(['inaccessible', 'missing', 'usage', 'refused', 'internal']);

function reportUnread({ failure: { code, message, path }, ...place }: UnreadFact): Problem {
  const wasRead =
    !UNREAD.has(codeFacts(code).class) && !code.startsWith('control.') && !code.startsWith('transport.');
  return {
    ...buildUnknown(place, message),
    state: wasRead ? 'failed' : 'not_checked',
    findings: [code],
    ...defined({ path }),
  };
}

/** There is no local report. They never count as evidence, but a policy can refuse their presence. */
export const refuseLocalReports: Evaluator = ({ localReports }) => ({
  judged: localReports.length,
  problems: localReports.map(({ input, subject, report: { path } }) =>
    buildFailure({ input, subject }, 'it is a local report, uploaded by a user', { path }),
  ),
});

/** The verification has no warning that the policy refuses. */
export const refuseWarnings =
  (refused: 'refuse' | readonly Code[]): Evaluator =>
  (facts) => ({
    judged: facts.exports.length + facts.bundles.length + facts.localReports.length,
    problems: listFindings(facts).flatMap(([place, finding]) => checkFinding(place, finding, refused) ?? []),
  });

function checkFinding(
  { input, subject }: Place,
  { code, message, path, expected, actual }: Finding,
  refused: 'refuse' | readonly Code[],
): Problem | undefined {
  const isRefused = refused === 'refuse' ? codeFacts(code).severity === 'warning' : refused.includes(code);
  if (!isRefused) return undefined;
  const values = { findings: [code], causes: [{ subject, code }], path, expected, actual };
  return buildFailure({ input, subject }, message, defined(values));
}

const listFindings = ({ exports, bundles, localReports }: Facts): readonly (readonly [Place, Finding])[] =>
  [...exports, ...bundles, ...localReports].flatMap((place) =>
    place.report.findings.map((finding) => [place, finding] as const),
  );
