import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/policy/decision.ts';
import { renderDecisionGithub } from '../../../src/report/decision/renderers.ts';
import { escapeText } from '../../../src/report/printable.ts';
import { decision, NO, rule, texts, UNSURE, violation, withReasons, withTexts, YES } from './makers.ts';
import { forAll } from '../../support/property.ts';

type Command = { name: string; properties: Record<string, string>; data: string };

/** Output as the runner of GitHub Actions reads it: a command begins a line, everything else is not ours to write. */
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

const read = (one: Decision): Command[] => commandsIn(renderDecisionGithub(one));
const count = (commands: readonly Command[], name: string): number =>
  commands.filter((command) => command.name === name).length;

describe('annotations of GitHub Actions', () => {
  it('begin with the answer', () => {
    expect([YES, NO, UNSURE].map((one) => read(one)[0]?.name)).toEqual(['notice', 'error', 'error']);
    expect(read(NO)[0]?.data).toMatch(/^NO: /);
  });

  it('name the file, the rule, the subject, expected, actual and what to do', () => {
    const { properties, data } = read(NO)[2]!;
    expect(properties).toEqual({
      file: 'mirror/parts/evidence_000000000002.zip',
      title: 'outcome.verdict: every drill has the required outcome',
    });
    for (const words of ['evidence_000000000002', 'expected: passed', 'actual: failed', 'to do: Read'])
      expect(data).toContain(words);
  });

  it('are errors for undecided rules', () => {
    expect(count(read(UNSURE), 'error')).toBe(2);
    expect(count(read(decision({ answer: 'could_not_tell', inputs: [], rules: [] })), 'error')).toBe(2);
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
  ])('of %i errors and the answer are %i, and say what was cut: %s', (errors, shown, cut) => {
    const whole = withReasons(errors);
    const rules = whole.rules.map((one) => ({
      ...one,
      violations: one.violations.map((violated) => ({ ...violated, state: 'failed' as const })),
    }));
    const commands = read({ ...whole, rules });
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

  it('cannot be made to run a command by any text', () => {
    forAll(500, [texts], (some) => {
      const commands = read(withTexts(some));
      expect(commands.map(({ name }) => name)).toEqual(['error', 'error', 'error', 'notice']);
      for (const { properties } of commands.slice(1))
        expect(Object.keys(properties)).toEqual(['file', 'title']);
      expect(commands[1]?.data).toContain(escapeText(some.message));
    });
  });

  it('are escaped as the runner unescapes them', () => {
    const some = {
      name: 'a,b:c%3A',
      subject: 's',
      path: 'p',
      message: '100%0A::error::x',
      expected: '',
      actual: '',
    };
    const [, command] = read(withTexts({ ...some, reason: 'r', owner: 'o', policy: 'p' }));
    expect(command?.properties['file']).toBe('a,b:c%3A/p');
    expect(command?.data).toContain('100%0A\\u{3a}:error\\u{3a}:x');
  });
});
