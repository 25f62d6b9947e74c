import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFailureText } from '../../src/cli/shared/output/failure.ts';
import { alignFacts, formatTable } from '../../src/cli/shared/output/product.ts';
import { diffReports, renderDiff } from '../../src/report/diff.ts';
import { decisionRenderers } from '../../src/report/decision-renderers.ts';
import { escapeText, columnsOf } from '../../src/report/printable.ts';
import { renderers, renderLine } from '../../src/report/text/text.ts';
import { createSummary } from '../../src/report/many/summary.ts';
import { foldLines } from '../../src/report/text/page.ts';
import { renderSummary } from '../../src/report/many/text.ts';
import { renderSummaryReport } from '../../src/report/text/vsa.ts';
import type { Report } from '../../src/verify/report.ts';
import { NO, UNSURE, YES } from './decision/makers.ts';
import { hostileText, replaceText, UNSAFE } from './hostile.ts';
import {
  attestationReport,
  coverage,
  DIGEST,
  exportReport,
  failedPart,
  localReport,
  part,
  SIGNER,
  toolSourceReport,
} from './makers.ts';
import { forAll } from '../support/property.ts';

const textsOf = (...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }).map((words) => words.join(''));
const BLANK = Array.from(' \u00A0\u2800\u034F\n\r');
// Each text begins with a character with which no line of ours begins.
const column0 = textsOf('Ж', 'ЖVERIFIED', '漢字', ...BLANK, 'Ж'.repeat(90), '漢'.repeat(60)).map(
  (text) => `Ж${text}`,
);
const untrusted = fc.oneof(column0, hostileText);
const COMMANDS = ['##[set-output name=a]b', '##vso[task.prependpath]/tmp/evil', '##teamcity[buildStop]'];
const PIECES = ['::set-env name=PATH::/tmp', '::', ':', '#', '[x]', ' ', '\n', 'word', 'w'.repeat(37)];
const commands = textsOf(...COMMANDS, ...PIECES);
const widths = fc.constantFrom(20, 41, 80, 120, Infinity);

const REPORTS: readonly Report[] = [
  exportReport({
    verdict: 'failed',
    parts: [
      part(1),
      part(2, { outcome: { drillId: 'd', targetId: 't', status: 's', verdict: 'failed' } }),
      failedPart(3),
    ],
    localReports: [localReport(), localReport({ verdict: 'failed' })],
    coverage: coverage({ coveredBytes: 1, uncovered: ['notes.txt'], mirrorFiles: ['SHA256SUMS'] }),
    signer: SIGNER,
  }),
  exportReport(),
  part(1),
  failedPart(1),
  attestationReport({ signer: SIGNER }),
  toolSourceReport(),
];

const RUN_REPORTS = REPORTS.filter((report) => report.kind === 'export' || report.kind === 'bundle');

function summaryOf(text: string) {
  const collector = createSummary();
  for (const report of RUN_REPORTS)
    collector.add({ path: text, passed: false, report: replaceText(report, text) });
  collector.add({ path: text, passed: false, failure: { code: 'io.NOT_FOUND' } });
  return collector;
}

const vsaReport = (text: string) =>
  renderSummaryReport.bind(undefined, {
    schemaVersion: 1,
    kind: 'summary',
    verdict: 'not_checked',
    asOfMs: 0,
    keys: [DIGEST],
    findings: replaceText(failedPart(1).findings, text),
  });

/** Everything that is laid out for a terminal. */
function screensOf(text: string, width: number, color = false): readonly string[] {
  const look = { width, color };
  const fold = (lines: string): string => foldLines(lines, width);
  return [
    ...REPORTS.map((report) => renderers.text(replaceText(report, text), look)),
    ...RUN_REPORTS.map((report) => renderLine(replaceText(report, text), text, look)),
    ...[YES, NO, UNSURE].map((decision) => decisionRenderers.text(replaceText(decision, text), look)),
    renderSummary(summaryOf(text), look),
    renderDiff(
      diffReports({ kind: 'export', parts: [{ path: text, verdict: text }] }, { [text]: text }),
      look,
    ),
    vsaReport(text)(look),
    fold(
      formatFailureText({
        code: 'io.NOT_FOUND',
        message: text,
        action: text,
        path: text,
        exit: 3,
        details: { issues: [{ path: text, message: text }] },
      }),
    ),
    fold(formatTable(['A', 'B'], [[text, text]])),
    fold(alignFacts([['name', text]])),
    fold(`drillproof: ${escapeText(text)}`),
  ];
}

/** A text without the colours of this program. */
const uncoloured = (text: string): string =>
  [1, 2, 22, 31, 32, 33, 39].reduce((rest, code) => rest.replaceAll(`\u001B[${code}m`, ''), text);

/** Everything that programs read. */
const documentsOf = (text: string): readonly string[] => [
  ...REPORTS.map((report) => renderers.json(replaceText(report, text))),
  ...Object.entries(decisionRenderers)
    .filter(([format]) => format !== 'text')
    .flatMap(([, render]) => [YES, NO, UNSURE].map((decision) => render(replaceText(decision, text)))),
];

/**
 * The commands that CI runners execute in the output of a step:
 *
 * - GitHub (actions/runner, ActionCommand.cs): `##[name …]` anywhere in a line; `::name …::` at the start of a line,
 *   after white space.
 * - Azure Pipelines (azure-pipelines-agent, Command.cs): `##vso[area.event …]` anywhere in a line.
 * - TeamCity (service messages): `##teamcity[…]` anywhere in a line.
 */
function listCommands(output: string): string[] {
  return output
    .split(/\r\n|\r|\n/)
    .flatMap((line) => [
      ...['##[', '##vso[', '##teamcity['].flatMap((prefix) => inBrackets(line, prefix)),
      ...atStart(line.trimStart()),
    ]);
}

/** The runners look for the prefix without regard to case, and for the first `]` behind it. */
function inBrackets(line: string, prefix: string): string[] {
  const start = line.toLowerCase().indexOf(prefix);
  const end = line.indexOf(']', start);
  return start < 0 || end < 0 ? [] : [line.slice(start, end + 1)];
}

function atStart(line: string): string[] {
  const end = line.indexOf('::', 2);
  return !line.startsWith('::') || end < 0 ? [] : [line.slice(0, end + 2)];
}

describe('a rendering of hostile text', () => {
  it('has no line on a terminal that begins with untrusted text or reaches the first column by wrapping', () => {
    forAll(20, [column0, widths], (text, width) => {
      for (const screen of screensOf(text, width))
        for (const line of screen.split('\n')) {
          expect(line).not.toMatch(/^[Ж漢字\\]/u);
          if (/[Ж漢]/u.test(line) && columnsOf(line) > width) expect(line).toBe('');
        }
    });
  });

  it('has no line in a format for programs that begins with untrusted text', () => {
    forAll(20, [column0], (text) => {
      for (const document of documentsOf(text)) expect(document).not.toMatch(/^[Ж漢字\\]/mu);
    });
  });

  it('contains no unescaped unsafe character in any format', () => {
    forAll(30, [untrusted, widths], (text, width) => {
      const screens = screensOf(text, width);
      for (const rendering of [...screens, ...documentsOf(text)])
        expect(rendering.replaceAll('\n', '')).not.toMatch(UNSAFE);
      const coloured = screensOf(text, width, true);
      expect(coloured).not.toEqual(screens);
      expect(coloured.map(uncoloured)).toEqual(screens);
    });
  });

  it('contains no command of a CI runner in any format, whatever the width', () => {
    expect(listCommands('x ##[set-output name=a]1')).toEqual(['##[set-output name=a]']);
    expect(listCommands('x ##VSO[task.prependpath]/tmp')).toEqual(['##VSO[task.prependpath]']);
    expect(listCommands('a\n  ::add-mask::b\n ##teamcity[buildStop]')).toEqual([
      '::add-mask::',
      '##teamcity[buildStop]',
    ]);
    forAll(40, [commands, widths], (text, width) => {
      for (const rendering of [...screensOf(text, width), ...documentsOf(text)]) {
        // Only the format for GitHub has commands: its own annotations.
        const annotation = /^::(?:error|notice) (?:file=[^:]*,)?title=[^:]*::$/;
        expect(listCommands(rendering).filter((command) => !annotation.test(command))).toEqual([]);
      }
    });
  });

  it('keeps a key id in one piece at 80 columns', () => {
    const text = renderers.text(exportReport({ signer: SIGNER, trust: { fingerprint: DIGEST, keys: 1 } }), {
      width: 80,
    });
    expect(text).toContain(DIGEST);
  });
});
