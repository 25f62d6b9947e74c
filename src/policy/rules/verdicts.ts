import { groupBy } from '../../bytes/async.ts';
import { defined } from '../../bytes/arguments.ts';
import type { Digest } from '../../bytes/hash.ts';
import type { Code } from '../../codes/catalogue.ts';
import { codeFacts } from '../../codes/facts.ts';
import type { BundleReport, ExportReport, Finding, Verdict } from '../../verify/report.ts';
import { type Facts, hasNoInput, type Subject, type SummaryFact, type UnreadFact } from '../facts.ts';
import {
  buildFailure,
  buildUnknown,
  type Cause,
  type Evaluator,
  type Problem,
  UNWAIVABLE,
} from './outcome.ts';
import { countGroups } from './signers.ts';
import { listParameters } from '../document/parameters.ts';
import { durationMs, hasSameItems } from '../document/values.ts';
import type { PolicyDocument } from '../document/document.ts';

type Required = 'verified' | 'intact';

const meetsVerdict = (verdict: Verdict, required: Required): boolean =>
  verdict === 'verified' || verdict === required;

export const requireExportVerdict =
  (required: Required): Evaluator =>
  (facts) => ({
    examined: facts.exports.length,
    problems: facts.exports.flatMap(
      ({ report, ...place }) => checkVerdict(place, report, required, facts) ?? [],
    ),
  });

export const requireBundleVerdicts =
  (required: Required): Evaluator =>
  (facts) => ({
    examined: facts.bundles.length + facts.unread.length,
    problems: [
      ...facts.unread.map(reportUnread),
      ...facts.bundles.flatMap(
        ({ report, input, subject }) => checkVerdict({ input, subject }, report, required, facts) ?? [],
      ),
    ],
  });

function checkVerdict(
  place: Subject,
  report: ExportReport | BundleReport,
  required: Required,
  { asOfMs }: Facts,
): Problem | undefined {
  if (report.depth !== 'full') return buildUnknown(place, 'only digests were compared');
  if (report.asOfMs !== asOfMs) return buildUnknown(place, 'it was verified as of a different time');
  if (meetsVerdict(report.verdict, required)) return undefined;
  const causes = listCauses(report, place.subject, required);
  const codes = [...new Set(causes.map(({ code }) => code))];
  const findings = codes.length > 0 ? codes : undefined;
  const values = { expected: required, actual: report.verdict, ...defined({ findings }) };
  const message = `the verdict is ${report.verdict}${nameUnknownKeys(report)}`;
  if (report.verdict === 'incomplete') return { ...buildUnknown(place, message), ...values };
  return buildFailure(place, message, {
    ...values,
    ...defined({ causes: causes.length > 0 ? causes : undefined }),
  });
}

const MAX_KEYS = 3;

/** Names the keys that no store has, each once, with the nearest trusted names. */
function nameUnknownKeys(report: ExportReport | BundleReport): string {
  const { parts = [] } = report.kind === 'export' ? report : {};
  const findings = [report, ...parts].flatMap((part) => part.findings);
  const names = findings.flatMap(({ code, message, expected, actual }) =>
    code === 'trust.KEY_UNKNOWN' && actual !== undefined
      ? [`; ${message}: ${actual}, trusted: ${expected || 'none'}`]
      : [],
  );
  return [...new Set(names)].slice(0, MAX_KEYS).join('');
}

const KEEPS_INTACT: ReadonlySet<Code> = new Set(['bundle.UNSIGNED', 'trust.STORE_ABSENT']);

/** The errors that lower a verdict and, if `verified` is required, the reasons why it is only intact. */
function listCauses(
  report: ExportReport | BundleReport,
  subject: string,
  required: Required,
): readonly Cause[] {
  const { parts = [], localReports = [] } = report.kind === 'export' ? report : {};
  const reports = [
    { id: subject, findings: report.findings },
    ...parts.map(({ evidenceBundleId: id, path, findings }) => ({ id: id ?? path ?? 'bundle', findings })),
    ...localReports.map(({ localReportId: id, findings }) => ({ id, findings })),
  ];
  return reports.flatMap(({ id, findings }) =>
    findings.flatMap(({ code, severity }) =>
      severity === 'error' || (required === 'verified' && KEEPS_INTACT.has(code))
        ? [{ subject: id, code }]
        : [],
    ),
  );
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
  examined: localReports.length,
  problems: localReports.map(({ input, subject, report: { path } }) =>
    buildFailure({ input, subject }, 'it is a local report, uploaded by a user', { path }),
  ),
});

export const refuseWarnings =
  (refused: 'refuse' | readonly Code[]): Evaluator =>
  (facts) => ({
    examined: facts.exports.length + facts.bundles.length + facts.localReports.length,
    problems: listFindings(facts).flatMap(([place, finding]) => checkFinding(place, finding, refused) ?? []),
  });

function checkFinding(
  { input, subject }: Subject,
  { code, message, path, expected, actual }: Finding,
  refused: 'refuse' | readonly Code[],
): Problem | undefined {
  const isRefused = refused === 'refuse' ? codeFacts(code).severity === 'warning' : refused.includes(code);
  if (!isRefused) return undefined;
  const values = { findings: [code], causes: [{ subject, code }], path, expected, actual };
  return buildFailure({ input, subject }, message, defined(values));
}

const listFindings = ({ exports, bundles, localReports }: Facts): readonly (readonly [Subject, Finding])[] =>
  [...exports, ...bundles, ...localReports].flatMap((place) =>
    place.report.findings.map((finding) => [place, finding] as const),
  );

type SummaryRule = NonNullable<PolicyDocument['summary']>;
type AcceptedSummary = SummaryRule['accepted'][number];

function findRefusal(row: AcceptedSummary, { summary }: SummaryFact, facts: Facts): string | undefined {
  const { verifier, policies, parameters = {}, inputs, artifact, maxAge, resource, threshold = 1 } = row;
  const { verifierId, policyDigest, resourceUri, timeVerifiedMs, thumbprints, artifacts = [] } = summary;
  if (verifierId !== verifier) return 'the verifier is not the accepted one';
  if (thumbprints.length === 0) return 'no trusted key of purpose summary signed it';
  const accepted = listAcceptedKeys(row, summary);
  if (accepted.length === 0) return 'no accepted key signed it';
  if (new Set(accepted).size < threshold) return `fewer than ${threshold} different keys signed it`;
  if (resourceUri !== resource) return 'the resource is not the accepted one';
  if (!policies.includes(policyDigest)) return 'the applied policy is not an accepted one';
  const stated = summary.parameters && listParameters(summary.parameters);
  if (stated === undefined) return 'it does not state the values of the parameters of its policy';
  if (!hasSameItems(stated, listParameters(parameters)))
    return `its ${formatParameters(summary.parameters)} are not the accepted ones`;
  if (inputs !== undefined && (summary.inputs.length === 0 || !hasSameItems(summary.inputs, inputs)))
    return 'it is not about exactly the accepted evidence';
  for (const wanted of [artifact, facts.artifact])
    if (wanted !== undefined && !artifacts.includes(wanted)) return `it is not about the artifact ${wanted}`;
  if (timeVerifiedMs > facts.asOfMs) return 'it was made after the time of this evaluation';
  return facts.asOfMs - timeVerifiedMs > durationMs(maxAge) ? `it is older than ${maxAge}` : undefined;
}

const listAcceptedKeys = (
  { keys = [] }: AcceptedSummary,
  { thumbprints }: SummaryFact['summary'],
): readonly Digest[] => thumbprints.filter((key) => keys.length === 0 || keys.includes(key));

/** Each summary is accepted and passed; with `atLeast`, that many are, and others do not matter. */
export const requireAcceptedSummaries =
  ({ accepted: rows, atLeast: least }: SummaryRule): Evaluator =>
  (facts) => {
    const results = facts.summaries.map((summary) => ({
      summary,
      problem: checkSummary(summary, rows, facts),
    }));
    const problems = results.flatMap(({ problem }) => problem ?? []);
    if (least === undefined || hasNoInput(facts)) return { examined: results.length, problems };
    // Each verifier counts once, with a key that counts for no other.
    const passed = results.flatMap(({ summary, problem }) =>
      problem === undefined ? [summary.summary] : [],
    );
    const groups = groupBy(passed, ({ verifierId }) => verifierId).values();
    const count = countGroups(
      [...groups].map((summaries) =>
        summaries.flatMap((summary) => rows.flatMap((row) => listAcceptedKeys(row, summary))),
      ),
    );
    if (count >= least) return { examined: results.length, problems: [] };
    const message = 'too few accepted verifiers state that the evidence passed';
    const values = { expected: `at least ${least}`, actual: String(count), causes: UNWAIVABLE };
    return {
      examined: Math.max(1, results.length),
      problems: [...problems, { state: 'failed', subject: 'all', message, ...values }],
    };
  };

function checkSummary(
  fact: SummaryFact,
  rows: readonly AcceptedSummary[],
  facts: Facts,
): Problem | undefined {
  const { summary } = fact;
  const error = summary.findings.find(({ severity }) => severity === 'error');
  const reasons = rows.map((row) => findRefusal(row, fact, facts));
  // The row of its own verifier explains most.
  const own = rows.findLastIndex(({ verifier }) => verifier === summary.verifierId);
  const reason = error?.message ?? (reasons.includes(undefined) ? undefined : reasons.at(own));
  if (reason !== undefined)
    return buildFailure(fact, reason, {
      ...defined({ findings: error && [error.code], expected: error?.expected, actual: error?.actual }),
      causes: UNWAIVABLE,
    });
  if (rows.length === 0) return buildFailure(fact, 'the policy accepts no summary', { causes: UNWAIVABLE });
  if (summary.result === 'PASSED') return undefined;
  const values = { expected: 'PASSED', actual: summary.result, causes: UNWAIVABLE };
  return buildFailure(fact, 'the summary states that the evidence did not pass', values);
}

const formatParameters = (values: Readonly<Record<string, string | number>> = {}): string =>
  Object.keys(values).length === 0 ? 'no parameters' : `parameters ${listParameters(values).join(', ')}`;

export function formatAccepted(row: AcceptedSummary): string {
  const {
    verifier,
    policies,
    parameters = {},
    inputs,
    artifact,
    maxAge,
    resource,
    threshold = 1,
    keys,
  } = row;
  const signed = threshold === 1 ? 'a key' : `${threshold} different keys`;
  const allowed = keys === undefined ? '' : ` of ${keys.join(', ')}`;
  const subjects = [
    ...(inputs === undefined ? [] : [`exactly ${inputs.join(' and ')}`]),
    ...(artifact === undefined ? [] : [`the artifact ${artifact}`]),
  ];
  const content = `for ${resource}, of the policy ${policies.join(' or ')} with ${formatParameters(parameters)}, about ${subjects.join(' and ')}`;
  return `by ${verifier} with ${signed}${allowed}, ${content}, and at most ${maxAge} old`;
}
