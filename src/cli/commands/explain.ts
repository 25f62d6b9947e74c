import type { Command } from 'commander';
import { catalogue, codeEntry, isCode, type Code } from '../../codes/index.ts';
import { printable, stableJson } from '../../report/index.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit.ts';
import { exitOfCode } from '../exit-codes.ts';
import { didYouMean } from '../near-miss.ts';
import { examples, standardOptions } from '../options.ts';
import { usageError } from '../usage.ts';

const ALL = Object.keys(catalogue) as readonly Code[];

export function define(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Say what a code means, how severe it is and what to do. Without a code, list them all.')
    .argument('[code]', 'a code such as part.DIGEST_MISMATCH')
    .action(async (code: string | undefined) => {
      const text = code === undefined ? listing(cli) : explanation(known(code), cli);
      await cli.stdout.write(text);
    });
  examples(command, [
    ['what a finding means', 'drillproof explain part.DIGEST_MISMATCH'],
    ['every code there is', 'drillproof explain'],
    ['the catalogue for a program', 'drillproof explain --json'],
  ]);
}

function known(given: string): Code {
  if (isCode(given)) return given;
  const hint = didYouMean(given, ALL) ?? didYouMean(given, ALL.map(nameOf));
  throw usageError(
    `there is no code "${printable(given)}"`,
    hint ?? 'Run "drillproof explain" for all codes.',
  );
}

const namespaceOf = (code: Code): string => code.slice(0, code.indexOf('.'));
const nameOf = (code: Code): string => code.slice(code.indexOf('.') + 1);
const member = (code: Code) => ({ code, ...codeEntry(code) });

function explanation(code: Code, cli: Cli): string {
  if (cli.format === 'json') return stableJson({ schemaVersion: 1, kind: 'code', ...member(code) });
  const { meaning, action, class: codeClass, severity, clause } = codeEntry(code);
  return [
    code,
    `  ${meaning}`,
    '',
    `  what to do   ${action}`,
    `  severity     ${severity}`,
    `  class        ${codeClass}`,
    `  stands for   ${clause}`,
    ...(severity === 'error' ? [`  exit code    ${exitOfCode(code)} (${EXIT_WORDS[exitOfCode(code)]})`] : []),
    '',
  ].join('\n');
}

const EXIT_WORDS = {
  [EXIT.pass]: 'pass',
  [EXIT.bad]: 'the evidence is bad',
  [EXIT.usage]: 'wrong call or configuration',
  [EXIT.unchecked]: 'could not be checked',
  [EXIT.unsupported]: 'not known',
  [EXIT.interrupted]: 'interrupted',
};

function listing(cli: Cli): string {
  if (cli.format === 'json') return stableJson({ schemaVersion: 1, kind: 'codes', codes: ALL.map(member) });
  const spaces = [...new Set(ALL.map(namespaceOf))];
  return spaces
    .map((space) => {
      const codes = ALL.filter((code) => namespaceOf(code) === space);
      return `${space}\n${codes.map((code) => `  ${code}\n      ${codeEntry(code).meaning}\n`).join('')}`;
    })
    .join('\n');
}
