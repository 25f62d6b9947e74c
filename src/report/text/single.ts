import type { AttestationReport, BundleReport, ToolSourceReport } from '../../verify/index.ts';
import { caveatsOf } from './caveats.ts';
import { checkLines } from './checks.ts';
import {
  asOfFact,
  coverageLines,
  fact,
  headline,
  runFact,
  signerLines,
  trustFacts,
  untrustedLine,
} from './facts.ts';
import { closing } from './findings.ts';
import { count, labelled, sections, type Page } from './page.ts';
import { verdictLines } from './brief.ts';
import { printable } from '../printable.ts';

/** The report of one part as text. */
export function bundleText(page: Page, report: BundleReport): string[] {
  return [
    ...verdictLines(page, report),
    ...sections(page, [
      { title: 'Bundle', lines: bundleFacts(page, report) },
      { title: 'Checked', lines: checkLines(page, report.checks) },
      { title: 'Drill outcome', lines: outcomeLines(page, report) },
      { title: 'Signed by', lines: bundleSigner(page, report) },
      { title: 'Byte coverage', lines: coverageLines(page, report.coverage) },
      ...closing(page, [[report.checks]], report.findings, caveatsOf('bundle', report)),
    ]),
    '',
    ...verdictLines(page, report),
  ];
}

function bundleFacts(page: Page, report: BundleReport): string[] {
  const { archive, objectCount } = report;
  return [
    ...fact(page, 'bundle', report.evidenceBundleId),
    ...fact(page, 'organization', report.organizationId),
    ...fact(page, 'project', report.projectId),
    ...fact(page, 'run', report.runId),
    ...fact(page, 'rerun of', report.rerunOfHostedRunId),
    ...fact(page, 'objects', objectCount === undefined ? undefined : count(objectCount)),
    ...fact(page, 'archive', archive?.digest),
    ...fact(page, '', archive === undefined ? undefined : `${count(archive.bytes)} bytes`),
    ...fact(page, 'manifest', report.manifestDigest),
    ...asOfFact(page, report.asOfMs),
    ...fact(page, 'depth', report.depth),
    ...trustFacts(page, report.trust),
    ...runFact(page, report.run),
  ];
}

function outcomeLines(page: Page, { outcome }: BundleReport): string[] {
  if (outcome === undefined) return [];
  const { verdict, status, drillId, targetId } = outcome;
  return labelled(page, '  ', printable(`${verdict} (${status}): ${drillId} on ${targetId}`));
}

function bundleSigner(page: Page, { signer, signers = [], signed, findings }: BundleReport): string[] {
  if (signers.length > 1) return signerLines(page, signers, 'signature');
  if (signer !== undefined) return signerLines(page, [signer], '');
  if (signed === undefined) return ['  unknown: the archive could not be read'];
  return signed ? [untrustedLine(findings)] : ['  no key: the bundle is unsigned'];
}

/** The report of an attestation without its evidence as text. */
export function attestationText(page: Page, report: AttestationReport): string[] {
  return [
    ...headline(page, report.verdict, 'attestation alone, without its evidence'),
    ...sections(page, [
      {
        title: 'Attestation',
        lines: [...asOfFact(page, report.asOfMs), ...trustFacts(page, report.trust)],
      },
      { title: 'Checked', lines: checkLines(page, report.checks) },
      { title: 'Signed by', lines: signerOrNobody(page, report) },
      ...closing(page, [[report.checks]], report.findings, caveatsOf('attestation', report)),
    ]),
  ];
}

function signerOrNobody(page: Page, { signer, findings }: AttestationReport): string[] {
  return signer === undefined ? [untrustedLine(findings)] : signerLines(page, [signer], '');
}

/** The report of a tool source as text. */
export function toolSourceText(page: Page, report: ToolSourceReport): string[] {
  return [
    ...headline(
      page,
      report.verdict,
      `tool source of ${printable(report.packageId ?? 'an unknown package')}`,
    ),
    ...sections(page, [
      {
        title: 'Tool source',
        lines: [
          ...fact(page, 'package', report.packageId),
          ...fact(page, 'build', report.buildHash),
          ...fact(page, 'artifact', report.artifactHash),
        ],
      },
      { title: 'Checked', lines: checkLines(page, report.checks) },
      ...closing(page, [[report.checks]], report.findings, caveatsOf('tool-source', report)),
    ]),
  ];
}
