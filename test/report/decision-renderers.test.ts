import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/policy/decision.ts';
import { decisionRenderers, renderDecisionGithub } from '../../src/report/decision-renderers.ts';
import { escapeText } from '../../src/report/printable.ts';
import {
  BENIGN,
  decision,
  input,
  NO,
  NOTHING,
  rule,
  texts,
  UNSURE,
  violation,
  withReasons,
  withTexts,
  YES,
} from './decision/makers.ts';
import { forAll } from '../support/property.ts';

type Command = { name: string; properties: Record<string, string>; data: string };

/** The commands as the runner of GitHub Actions reads them; every line must be one. */
function commandsIn(output: string): Command[] {
  const lines = output.split(/\r\n|\r|\n/);
  expect(lines.pop()).toBe('');
  return lines.map((line) => {
    const [, name = '', properties = '', data = ''] = /^::([a-z]+) ([^:]*)::(.*)$/su.exec(line) ?? [];
    expect(name, line).not.toBe('');
    const pairs = properties.split(',').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), unescapeProperty(pair.slice(at + 1))] as const;
    });
    return { name, properties: Object.fromEntries(pairs), data: unescapeData(data) };
  });
}
const unescapeData = (text: string): string =>
  text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
const unescapeProperty = (text: string): string =>
  unescapeData(text.replaceAll('%3A', ':').replaceAll('%2C', ','));

const read = (result: Decision): Command[] => commandsIn(renderDecisionGithub(result));
const count = (commands: readonly Command[], name: string): number =>
  commands.filter((command) => command.name === name).length;

it('a decision names the warnings about an input and its bundles next to its verdict, each once', () => {
  const evidence = [{ verdict: 'verified', warnings: ['coverage.LOW'] }] as const;
  const inputs = [input({ warnings: ['export.FILE_UNCOVERED', 'coverage.LOW'], evidence })];
  const text = decisionRenderers.text(decision({ inputs }));
  expect(text.replaceAll(/\s+/g, ' ')).toContain(', export.FILE_UNCOVERED, coverage.LOW');
  expect(decisionRenderers.html(decision({ inputs }))).toContain('export.FILE_UNCOVERED, coverage.LOW');
});

it('a warning about evidence that no violation names is one entry of every format, with its inputs', () => {
  const warnings = ['coverage.LOW'] as const;
  const inputs = [input({ name: 'a.zip', warnings }), input({ name: 'b.zip', warnings }), input()];
  const warned = decision({ inputs });
  for (const [format, render] of Object.entries(decisionRenderers)) {
    const shown = render(warned);
    expect(shown, format).toContain('coverage.LOW');
    if (format !== 'json') expect(shown.replaceAll(/\s+/g, ' '), format).toContain('a.zip, b.zip');
  }
  expect(read(warned).map(({ name }) => name)).toEqual(['notice', 'warning']);
  const named = violation({ state: 'warned', code: 'policy.WARNING_REFUSED', findings: warnings });
  const rules = [rule('findings.warnings', [named, { ...named, input: 1 }])];
  expect(count(read(decision({ inputs, rules })), 'warning')).toBe(2);
});

describe('annotations of GitHub Actions', () => {
  it('begin with the answer', () => {
    expect([YES, NO, UNSURE].map((item) => read(item)[0]?.name)).toEqual(['notice', 'error', 'error']);
    expect(read(NO)[0]?.data).toMatch(/^NO: /);
  });

  it('name the file and the rule', () => {
    expect(read(NO)[2]!.properties).toEqual({
      file: 'mirror/parts/evidence_000000000002.zip',
      title: 'outcome.verdict: every drill has the required outcome',
    });
  });

  it('are errors for undecided rules', () => {
    expect(count(read(UNSURE), 'error')).toBe(2);
    expect(count(read(NOTHING), 'error')).toBe(2);
  });

  it('are warnings for what the policy only warns about, on yes too', () => {
    const rules = [rule('outcome.verdict', [violation({ state: 'warned' })])];
    expect(read(decision({ rules })).map(({ name }) => name)).toEqual(['notice', 'warning']);
  });

  it.each([
    [8, 9, undefined],
    [9, 10, undefined],
    [10, 10, 'and 2 more'],
    [1000, 10, 'and 992 more'],
  ])('of %i errors and the answer are %i, and count the omitted ones: %s', (errors, shown, cut) => {
    const commands = read(withReasons(errors, { state: 'failed' }));
    expect(count(commands, 'error')).toBe(shown);
    const last = commands.at(-1)?.data ?? '';
    if (cut === undefined) expect(last).not.toMatch(/^and /);
    else expect(last).toContain(cut);
  });

  it('drop the least severe first, and stay within the 50 of a job', () => {
    const commands = read(withReasons(1000));
    expect(commands.length).toBeLessThanOrEqual(20);
    expect(commands.slice(1, 9).every(({ data }) => !data.includes('could not tell'))).toBe(true);
  });

  it('never contain a command from text', () => {
    forAll(500, [texts], (some) => {
      const commands = read(withTexts(some));
      expect(commands.map(({ name }) => name)).toEqual(['error', 'error', 'error', 'notice']);
      for (const { properties } of commands.slice(1))
        expect(Object.keys(properties)).toEqual(['file', 'title']);
      expect(commands[1]?.data).toContain(escapeText(some.message));
    });
  });

  it('are escaped as the runner unescapes them', () => {
    const odd = { name: 'a,b:c%3A', path: 'p', message: '100%0A::error::x' };
    const [, command] = read(withTexts({ ...BENIGN, ...odd }));
    expect(command?.properties['file']).toBe('a,b:c%3A/p');
    expect(command?.data).toContain('100%0A\\u{3a}:error\\u{3a}:x');
  });
});
