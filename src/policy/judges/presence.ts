import { codeEntry, type Code } from '../../codes/index.ts';
import type { Finding } from '../../verify/finding.ts';
import type { Facts, Place } from '../facts.ts';
import { failure, type Found, type Judge } from '../judge.ts';

/** There is no local report: what a user made counts for nothing anyway, and here it may not even lie there. */
export const noLocalReports: Judge = ({ localReports }) => ({
  judged: localReports.length,
  found: localReports.map(({ input, subject, report: { path } }) =>
    failure({ input, subject }, 'a user made this report', { path }),
  ),
});

/** No warning of the verification stands that is refused. */
export const warnings =
  (refused: 'refuse' | readonly Code[]): Judge =>
  (facts) => {
    const all = findingsIn(facts);
    return {
      judged: facts.exports.length + facts.bundles.length + facts.localReports.length,
      found: all.flatMap(([place, finding]) => warned(place, finding, refused) ?? []),
    };
  };

function warned(
  { input, subject }: Place,
  { code, message, path, expected, actual }: Finding,
  refused: 'refuse' | readonly Code[],
): Found | undefined {
  const isRefused = refused === 'refuse' ? codeEntry(code).severity === 'warning' : refused.includes(code);
  if (!isRefused) return undefined;
  return failure({ input, subject }, message, {
    findings: [code],
    causes: [{ subject, code }],
    ...(path !== undefined && { path }),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  });
}

const findingsIn = ({ exports, bundles, localReports }: Facts): readonly (readonly [Place, Finding])[] =>
  [...exports, ...bundles, ...localReports].flatMap((one) =>
    one.report.findings.map((finding) => [one, finding] as const),
  );
