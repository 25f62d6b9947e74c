import { isoTime } from '../../bytes/index.ts';
import type { SummaryReport } from '../../policy/index.ts';
import { asOfFact, fact, trustFacts } from './facts.ts';
import { headline } from './headline.ts';
import { errorsSection, findingsSection } from './findings.ts';
import { countNoun, firstLines, wrapLabel, sections, type Page } from './page.ts';
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
    ...headline(page, report.verdict, `verification summary${formatResult(report)}`),
    ...sections(page, [
      { title: 'Summary', lines: summaryLines(page, report) },
      { title: 'Signed by', lines: signerLines(page, report) },
      findingsSection(page, report.findings),
      {
        title: 'What this does not mean',
        lines: CAVEATS.flatMap((text) => wrapLabel(page, '  - ', text)),
      },
      errorsSection(page, report.findings),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const formatResult = ({ summary }: SummaryReport): string =>
  summary === undefined ? '' : `: ${summary.result} on ${countNoun(summary.inputs.length, 'input')}`;

function summaryLines(page: Page, { summary, asOfMs, trust }: SummaryReport): string[] {
  const basis = [...asOfFact(page, asOfMs), ...trustFacts(page, trust)];
  if (summary === undefined) return basis;
  return [
    ...fact(page, 'verifier', summary.verifierId),
    ...fact(page, 'verified at', isoTime(summary.timeVerifiedMs)),
    ...fact(page, 'resource', summary.resourceUri),
    ...fact(page, 'policy', summary.policyDigest),
    ...fact(page, 'levels', summary.levels.join(', ')),
    ...fact(page, 'its trust store', summary.trustStore),
    ...firstLines([...summary.inputs.entries()], MAX_INPUTS, ([at, digest]) =>
      fact(page, at === 0 ? 'about' : '', digest),
    ),
    ...basis,
  ];
}

function signerLines(page: Page, { keys, trust }: SummaryReport): string[] {
  if (trust === undefined) return ['  unknown: no trusted keys were given'];
  if (keys.length === 0) return ['  no key that is trusted for that verifier'];
  return keys.flatMap((key) => wrapLabel(page, '  - ', `key ${escapeText(key)}`));
}
