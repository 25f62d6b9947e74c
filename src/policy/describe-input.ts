import { defined } from '../bytes/index.ts';
import type { Code } from '../codes/index.ts';
import type { BundleReport, Finding } from '../verify/index.ts';
import type { EvaluatedInput, EvidenceUsed } from './decision.ts';
import type { EvidenceInput } from './inputs.ts';

/** An input as a decision names it, with everything in it that the answer rests on. */
export function describeInput(input: EvidenceInput): EvaluatedInput {
  const { name, envelopes } = input;
  const empty = { name, bundles: 0, localReports: 0, ...defined({ envelopes }) };
  if ('failure' in input) return { ...empty, kind: 'unreadable' };
  if ('summary' in input) {
    const { findings: _findings, ...summary } = input.summary;
    return { ...empty, kind: 'summary', summary };
  }
  const { report, pinned = false } = input;
  if (report.kind === 'bundle') {
    const { evidenceBundleId: id, projectId, manifestDigest, archive, verdict } = report;
    return {
      ...empty,
      kind: 'bundle',
      ...defined({ id, projectId, manifestDigest, archiveDigest: archive?.digest }),
      verdict,
      completeness: pinned ? 'pinned' : 'claimed',
      bundles: 1,
      evidence: [describeBundle(report)],
    };
  }
  const { evidenceExportId: id, manifestDigest, verdict, completeness, signer, parts, localReports } = report;
  const findings = [report, ...localReports].flatMap((part) => part.findings);
  return {
    ...empty,
    kind: 'export',
    ...defined({ id, manifestDigest, signer, warnings: warningsIn(findings) }),
    verdict,
    completeness,
    bundles: parts.length,
    localReports: localReports.length,
    evidence: parts.map(describeBundle),
  };
}

function describeBundle(report: BundleReport): EvidenceUsed {
  const { evidenceBundleId: id, path, verdict, manifestDigest, outcome, signers, findings } = report;
  return {
    verdict,
    ...defined({ id, path, manifestDigest, outcome, signers, warnings: warningsIn(findings) }),
  };
}

function warningsIn(findings: readonly Finding[]): readonly Code[] | undefined {
  const codes = new Set(findings.flatMap(({ severity, code }) => (severity === 'warning' ? [code] : [])));
  return codes.size === 0 ? undefined : [...codes];
}
