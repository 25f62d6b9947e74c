import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import { listParameters } from '../../policy/document/parameters.ts';
import type { Summary, SummaryReport } from '../../policy/vsa/read.ts';
import { formatAsOf, formatFact, formatTrust } from './facts.ts';
import { wrapHeadline } from './headline.ts';
import { buildErrorsSection, buildFindingsSection } from './findings.ts';
import { buildListSection, formatFirst, wrapLabel, sections, type Page } from './page.ts';
import { escapeText } from '../printable.ts';
import { pageOf, type TextOptions } from './text.ts';

const MAX_INPUTS = 20;

const CAVEATS = [
  'A summary is a statement of its verifier; the evidence itself was not read here.',
  'It states nothing about evidence that it does not list.',
];

export function renderSummaryReport(report: SummaryReport, options: TextOptions = {}): string {
  const page = pageOf(options);
  const lines = [
    ...wrapHeadline(page, report.verdict, `verification summary${formatResult(report)}`),
    ...sections(page, [
      { title: 'Summary', lines: formatSummary(page, report) },
      { title: 'Signed by', lines: formatSigners(page, report) },
      buildFindingsSection(page, report.findings),
      buildListSection(page, 'What this does not mean', CAVEATS),
      buildErrorsSection(page, report.findings),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const formatResult = ({ summary }: SummaryReport): string =>
  summary === undefined ? '' : `: ${summary.result} on ${countNoun(summary.inputs.length, 'input')}`;

/** The parameters of the policy of a summary, in words. */
export const formatParameters = ({ parameters }: Pick<Summary, 'parameters'>): string =>
  parameters === undefined ? 'not stated' : listParameters(parameters).join(', ') || 'none';

function formatSummary(page: Page, { summary, asOfMs, trust }: SummaryReport): string[] {
  const basis = [...formatAsOf(page, asOfMs), ...formatTrust(page, trust)];
  if (summary === undefined) return basis;
  return [
    ...formatFact(page, 'verifier', summary.verifierId),
    ...formatFact(page, 'verified at', isoTime(summary.timeVerifiedMs)),
    ...formatFact(page, 'resource', summary.resourceUri),
    ...formatFact(page, 'policy', summary.policyDigest),
    ...formatFact(page, 'parameters', formatParameters(summary)),
    ...formatFact(page, 'levels', summary.levels.join(', ')),
    ...formatFact(page, 'its trust store', summary.trustStore),
    ...formatFirst([...summary.inputs.entries()], MAX_INPUTS, ([at, digest]) =>
      formatFact(page, at === 0 ? 'about' : '', digest),
    ),
    ...basis,
  ];
}

function formatSigners(page: Page, { keys, trust }: SummaryReport): string[] {
  if (trust === undefined) return ['  unknown: no trusted keys were given'];
  if (keys.length === 0) return ['  no key that is trusted for that verifier'];
  return keys.flatMap((key) => wrapLabel(page, '  - ', `key ${escapeText(key)}`));
}
