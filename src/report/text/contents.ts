import { isoTime } from '../../bytes/text/wording.ts';
import type { AssertionResult } from '../../contract/resources/run.ts';
import type { Attestation, ExportAttestation } from '../../contract/resources/attestation.ts';
import type { PartContents } from '../../evidence/bundle/contents.ts';
import type { DrillproofError } from '../../errors.ts';
import { clipEnd } from '../printable.ts';

const MAX_VALUE = 200;

/** The facts that a part states about itself, none of them verified. */
export function listPartFacts({ manifest, manifestDigest, attestation, ...contents }: PartContents) {
  const subject = attestation?.statement.subject;
  const { runResult, unreadable } = contents;
  const { drillId, targetId } = subject?.reproduction ?? runResult?.identity ?? {};
  return [
    ['bundle', manifest.evidenceBundleId],
    ['organization', manifest.organizationId],
    ['project', manifest.projectId],
    ['hosted run', manifest.hostedRunId],
    ['rerun of', manifest.rerunOfHostedRunId],
    ['run', manifest.runId],
    ['created at', isoTime(manifest.createdAtMs)],
    ['manifest', manifestDigest],
    ['signed by', formatSigner(attestation)],
    ['drill', drillId],
    ['target', targetId],
    ['outcome', runResult && `${runResult.verdict}, ${runResult.status}`],
    ...unreadable.map((error) => ['not readable', describeError(error)] as const),
  ] as const satisfies readonly (readonly [name: string, value: string | undefined])[];
}

const describeError = ({ code, message, path }: DrillproofError): string =>
  [path, code, message].filter(Boolean).join(': ');

export function formatSigner(attestation: Attestation | ExportAttestation | undefined): string {
  if (attestation === undefined) return 'no key';
  const { issuer, keyId, issuedAtMs } = attestation.statement;
  return `${issuer}, key ${keyId}, ${isoTime(issuedAtMs)} (not checked)`;
}

/** What an assertion states besides its result: its message, and what it expected and found. */
export function describeAssertion({ message, expected, actual }: AssertionResult): string {
  const values = Object.entries({ expected, actual }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${clipEnd(JSON.stringify(value), MAX_VALUE)}`],
  );
  return [message, values.join(', ')].filter(Boolean).join('; ');
}
