import type {
  AttestationReport,
  BundleReport,
  ExportReport,
  Report,
  ToolSourceReport,
} from '../../verify/index.ts';

type Caveat<R> = readonly [applies: (report: R) => boolean, text: string];

const AUTHENTIC =
  'Authentic is not successful: it says where the evidence comes from, not that a drill passed; the outcomes shown above are what the evidence says of its drills.';
const TIME = 'The time of a signature is only the word of its signer.';
const INTACT =
  'Intact says that the bytes match each other. Whoever made the files could have made them match.';
const CONTENT = 'The content of the objects was not interpreted, only compared with the listed digests.';
const DIGEST_DEPTH =
  'Only the archives were compared with the manifest. Nothing inside them was read, and no signature was verified.';

const isGood = ({ verdict }: ExportReport | BundleReport): boolean =>
  verdict === 'verified' || verdict === 'intact';

const EXPORT: readonly Caveat<ExportReport>[] = [
  [(report) => report.verdict === 'verified', AUTHENTIC],
  [(report) => report.verdict === 'intact', INTACT],
  [(report) => report.depth === 'digest', DIGEST_DEPTH],
  [(report) => report.parts.some((part) => part.signer !== undefined), TIME],
  [
    (report) => report.completeness === 'claimed',
    'No trusted key signed the list of bundles, so bundles could have been removed.',
  ],
  [
    (report) => report.completeness !== 'claimed',
    'The list is complete for what was selected; it says nothing of runs outside the selection, or deleted before it.',
  ],
  [
    (report) => report.localReports.length > 0,
    'Local reports come from users. No key attests them, and their content was not read.',
  ],
  [(report) => report.depth === 'full' && isGood(report), CONTENT],
];

const BUNDLE: readonly Caveat<BundleReport>[] = [
  [(report) => report.verdict === 'verified', AUTHENTIC],
  [(report) => report.verdict === 'intact', INTACT],
  [(report) => report.depth === 'digest', DIGEST_DEPTH],
  [(report) => report.signer !== undefined, TIME],
  [() => true, 'A single part says nothing of the other bundles of its export.'],
  [(report) => report.depth === 'full' && isGood(report), CONTENT],
];

const isBound = ({ checks }: AttestationReport): boolean =>
  checks.some(({ id, state }) => id === 'attestation.binding' && state === 'passed');

const ATTESTATION: readonly Caveat<AttestationReport>[] = [
  [
    (report) => !isBound(report),
    'An attestation alone says nothing of evidence: without the manifest it names, no bytes were compared.',
  ],
  [isBound, 'Only the manifest was compared with it; nothing was read of what the manifest lists.'],
  [(report) => report.signer !== undefined, TIME],
];

const TOOL_SOURCE: readonly Caveat<ToolSourceReport>[] = [
  [(report) => report.verdict === 'intact', 'No lock was given: the source matches only what came with it.'],
  [() => true, 'The source was not run, and what it does was not examined.'],
];

type Caveats = { readonly [K in Report['kind']]: readonly Caveat<Extract<Report, { kind: K }>>[] };
const CAVEATS: Caveats = {
  export: EXPORT,
  bundle: BUNDLE,
  attestation: ATTESTATION,
  'tool-source': TOOL_SOURCE,
};

/** What a reader might take the result to mean, and it does not. */
export function caveatsOf<K extends Report['kind']>(
  kind: K,
  report: Extract<Report, { kind: K }>,
): readonly string[] {
  return CAVEATS[kind].filter(([applies]) => applies(report)).map(([, text]) => text);
}
