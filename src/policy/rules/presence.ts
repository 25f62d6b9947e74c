import { defined } from '../../bytes/index.ts';
import { type Code, codeEntry } from '../../codes/index.ts';
import type { Finding } from '../../verify/index.ts';
import type { Facts, Place } from '../facts.ts';
import { buildFailure, type Evaluator, type Problem } from './outcome.ts';

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
  const isRefused = refused === 'refuse' ? codeEntry(code).severity === 'warning' : refused.includes(code);
  if (!isRefused) return undefined;
  const values = { findings: [code], causes: [{ subject, code }], path, expected, actual };
  return buildFailure({ input, subject }, message, defined(values));
}

const listFindings = ({ exports, bundles, localReports }: Facts): readonly (readonly [Place, Finding])[] =>
  [...exports, ...bundles, ...localReports].flatMap((place) =>
    place.report.findings.map((finding) => [place, finding] as const),
  );
