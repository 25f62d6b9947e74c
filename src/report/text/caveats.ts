import type { BundleReport, ExportReport, Report } from '../../verify/report.ts';

const isEvidence = (report: Report): report is ExportReport | BundleReport =>
  report.kind === 'export' || report.kind === 'bundle';

const isBound = ({ checks }: Report): boolean =>
  checks.some(({ id, state }) => id === 'attestation.binding' && state === 'passed');

const isSigned = (report: Report): boolean =>
  report.kind === 'export'
    ? report.parts.some(isSigned)
    : report.kind !== 'tool-source' && report.signer !== undefined;

const listBundles = (report: Report): readonly Pick<BundleReport, 'signers'>[] =>
  report.kind === 'export'
    ? report.parts
    : report.kind === 'bundle' || report.kind === 'attestation'
      ? [report]
      : [];

const isStamped = ({ signers = [] }: Pick<BundleReport, 'signers'>): boolean =>
  signers.length > 0 && signers.every(({ stamp }) => stamp !== undefined);

const isListFixed = ({ completeness }: ExportReport): boolean => completeness !== 'claimed';

type Caveat = readonly [text: string, applies: (report: Report) => boolean];

const CAVEATS: readonly Caveat[] = [
  [
    'Authentic is not successful. The verdict shows where the evidence comes from, not that a drill passed; the outcomes of the drills are those that the evidence states.',
    (report) => isEvidence(report) && report.verdict === 'verified',
  ],
  [
    'Intact means that the bytes match each other. Anyone who made the files of an intact bundle could have made them match.',
    (report) =>
      isEvidence(report) && report.verdict === 'intact' && !(report.kind === 'export' && isListFixed(report)),
  ],
  [
    'No trusted signature of an intact bundle was verified. Only the list of bundles fixes its bytes.',
    (report) => report.kind === 'export' && report.verdict === 'intact' && isListFixed(report),
  ],
  [
    'Only the archives were compared with the manifest. Nothing inside them was read, and no signature was verified.',
    (report) => isEvidence(report) && report.depth === 'digest',
  ],
  [
    'An attestation alone shows nothing about evidence, because no bytes were compared without the manifest that it names.',
    (report) => report.kind === 'attestation' && !isBound(report),
  ],
  [
    'Only the manifest was compared with it; the files that the manifest lists were not read.',
    (report) => report.kind === 'attestation' && isBound(report),
  ],
  [
    'Only the signer states the time of a signature.',
    (report) => isSigned(report) && !listBundles(report).every(isStamped),
  ],
  [
    'A timestamp shows that a statement existed at a time. It does not show when the run began, or that no other run was discarded.',
    (report) => listBundles(report).some(isStamped),
  ],
  [
    'No trusted key signed the list of bundles, so bundles could have been removed.',
    (report) => report.kind === 'export' && !isListFixed(report),
  ],
  [
    'The list is complete for what was selected; it does not cover runs outside the selection, or runs deleted before it.',
    (report) => report.kind === 'export' && isListFixed(report),
  ],
  [
    'Local reports come from users. No key attests them, and their content was not read.',
    (report) => report.kind === 'export' && report.localReports.length > 0,
  ],
  [
    'A single part shows nothing about the other bundles of its export.',
    (report) => report.kind === 'bundle',
  ],
  [
    'The content of the objects was not interpreted, only compared with the listed digests.',
    (report) =>
      isEvidence(report) &&
      report.depth === 'full' &&
      (report.verdict === 'verified' || report.verdict === 'intact'),
  ],
  [
    'No lock was given, so the source was compared only with the digest that came with it.',
    (report) => report.kind === 'tool-source' && report.verdict === 'intact',
  ],
  ['The source was not run, and what it does was not examined.', (report) => report.kind === 'tool-source'],
];

export const caveatsOf = (report: Report): readonly string[] =>
  CAVEATS.filter(([, applies]) => applies(report)).map(([text]) => text);
