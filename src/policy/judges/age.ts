import { isoTime } from '../../bytes/text/iso-time.ts';
import { durationMs } from '../document/duration.ts';
import { failure, unattested, type Found, type Judge } from '../judge.ts';
import type { Facts, Place } from '../facts.ts';

/** No statement is older than allowed; one that is exactly as old is not. */
export const maxAge = (max: string): Judge => {
  const maxMs = durationMs(max);
  return (facts) => ({
    judged: facts.bundles.length,
    found: [
      ...facts.exports.flatMap(({ report, ...place }) =>
        report.signer === undefined ? [] : tooOld(place, [report.signer], max, maxMs, facts),
      ),
      ...facts.bundles.flatMap((bundle) => {
        const { signers = [] } = bundle.report;
        if (!bundle.attested || signers.length === 0) return [unattested(bundle, 'the time')];
        return tooOld(bundle, signers, max, maxMs, facts);
      }),
    ],
  });
};

function tooOld(
  { input, subject }: Place,
  statements: readonly { readonly issuedAtMs: number }[],
  max: string,
  maxMs: number,
  { asOfMs }: Facts,
): Found[] {
  const oldest = Math.min(...statements.map(({ issuedAtMs }) => issuedAtMs));
  if (asOfMs - oldest <= maxMs) return [];
  const message = 'the statement is older than allowed';
  const values = { expected: `at most ${max}`, actual: `issued at ${isoTime(oldest)}` };
  return [failure({ input, subject }, message, values)];
}
