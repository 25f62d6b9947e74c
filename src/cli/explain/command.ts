import { didYouMean, countNoun } from '../../bytes/text/wording.ts';
import { catalogue, type Code, codeEntry } from '../../codes/catalogue.ts';
import { isCode } from '../../codes/facts.ts';
import { CHECK_IDS, type CheckId, isCheckId } from '../../verify/checks.ts';
import { CHECK_TEXTS, checksOf, codesOf } from '../../verify/check-texts.ts';
import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { STANDARD } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { EXIT, exitOfCode } from '../exit.ts';
import { alignFacts, writeProduct } from '../shared/output/product.ts';

const CODES = Object.keys(catalogue) as readonly Code[];

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Explain a code, a check or a word of a report. Without one, list all codes and checks.')
    .argument(
      '[code]',
      'a code such as part.DIGEST_MISMATCH, a check such as part.bytes, or a word such as intact',
    )
    .perform(STANDARD, async (_options, name: string | undefined) => {
      const [json, text, line] = name === undefined ? listAll() : explain(name);
      await writeProduct(cli, json, text, line ?? text.replace(/\n +(.*)[^]*/, ': $1'));
    })
    .examples({
      'what a finding means': 'drillproof explain part.DIGEST_MISMATCH',
      'what a word of a report means': 'drillproof explain intact',
      'what a check proves': 'drillproof explain part.bytes',
      'every code': 'drillproof explain',
    });
}

/** The words of a report that are neither codes nor checks (docs/glossary.md). */
const WORDS: ReadonlyMap<string, string> = new Map([
  [
    'verified',
    'The bytes are intact, everything is bound to the signature, and a key that you trust signed it.',
  ],
  ['intact', 'The bytes match each other, but no key that you trust was shown to have signed them.'],
  ['incomplete', 'Something could not be read or checked, so there is no answer.'],
  ['failed', 'A check failed: the evidence is not what was signed or listed.'],
  ['pinned', 'The list of bundles has the digest that you gave, so none was removed or added.'],
  ['attested', 'A key that you trust signed it. For the list of bundles: none was removed or added.'],
  ['claimed', 'Only the evidence itself states it. For the list of bundles: some could have been removed.'],
  ['unattested', 'No key signed it, as with an unsigned part or a local report that a user uploaded.'],
  ['user_produced', 'A user uploaded it. It is never better than intact.'],
  ['passed', 'The check ran and found nothing wrong.'],
  ['not_checked', 'The check should have run and could not. It never counts as passed.'],
  ['not_applicable', 'The check had nothing to examine.'],
]);

type Answer = readonly [json: Readonly<Record<string, unknown>>, text: string, line?: string];

function explain(name: string): Answer {
  if (isCode(name)) return [{ kind: 'code', ...describeCode(name) }, formatCode(name)];
  if (isCheckId(name)) return [{ kind: 'check', ...describeCheck(name) }, formatCheck(name)];
  const word = name.toLowerCase();
  const meaning = WORDS.get(word);
  if (meaning !== undefined) return [{ kind: 'word', word, meaning }, `${word}\n  ${meaning}\n`];
  const matches = CODES.filter((code) => removeNamespace(code) === name.toUpperCase());
  if (matches.length === 1) return explain(matches[0]!);
  const names = [...CODES, ...CHECK_IDS, ...WORDS.keys()];
  const hint = didYouMean(name, names) ?? didYouMean(name, names.map(removeNamespace));
  throw usageError(
    `unknown code, check or word "${name}"`,
    hint ?? 'Run "drillproof explain" for all codes and checks.',
  );
}

const namespaceOf = (code: Code): string => code.slice(0, code.indexOf('.'));
const removeNamespace = (code: string): string => code.slice(code.indexOf('.') + 1);

const describeCode = (code: Code) => ({
  code,
  ...codeEntry(code),
  ...(codeEntry(code).severity === 'error' && { exitCode: exitOfCode(code) }),
  checks: checksOf(code),
});
const describeCheck = (check: CheckId) => ({
  check,
  proves: CHECK_TEXTS[check].sentence,
  codes: codesOf(check),
});

function formatCode(code: Code): string {
  const { meaning, action, class: codeClass, severity, clause } = codeEntry(code);
  const exit = exitOfCode(code);
  const checks = checksOf(code);
  const rows = alignFacts([
    ['  what to do', action],
    ['  severity', severity],
    ['  class', codeClass],
    ['  found by', checks.length === 0 ? undefined : checks.join(', ')],
    ['  clause', clause],
    ['  exit code', severity === 'error' ? `${exit} (${EXIT_WORDS[exit]})` : undefined],
  ]);
  return `${code}\n  ${meaning}\n\n${rows}`;
}

const formatCheck = (check: CheckId): string =>
  [
    check,
    `  A pass states: ${CHECK_TEXTS[check].sentence}.`,
    '',
    '  It can find',
    ...codesOf(check).map((code) => `    ${code}\n        ${codeEntry(code).meaning}`),
    '',
  ].join('\n');

const EXIT_WORDS = {
  [EXIT.pass]: 'pass',
  [EXIT.bad]: 'the evidence is bad',
  [EXIT.usage]: 'wrong call or configuration',
  [EXIT.unchecked]: 'could not be checked',
  [EXIT.interrupted]: 'interrupted',
};

function listAll(): Answer {
  const json = { kind: 'codes', codes: CODES.map(describeCode), checks: CHECK_IDS.map(describeCheck) };
  const checks = CHECK_IDS.map((id) => `  ${id}\n      ${CHECK_TEXTS[id].sentence}\n`);
  const line = `${countNoun(CODES.length, 'code')}, ${countNoun(CHECK_IDS.length, 'check')}`;
  return [json, `${formatNamespaces()}\nchecks\n${checks.join('')}`, line];
}

const formatNamespaces = (): string =>
  [...new Set(CODES.map(namespaceOf))]
    .map((space) => {
      const codes = CODES.filter((code) => namespaceOf(code) === space);
      return `${space}\n${codes.map((code) => `  ${code}\n      ${codeEntry(code).meaning}\n`).join('')}`;
    })
    .join('\n');
