import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandWords } from '../../../src/node/keys/command-signer.ts';
import { codeOf } from '../../trust/makers.ts';
import { forAll } from '../../support/property.ts';

describe('a command line', () => {
  const lines: [string, string[]][] = [
    ['openssl dgst -sha256 -sign key.pem', ['openssl', 'dgst', '-sha256', '-sign', 'key.pem']],
    ['  sign\t me  ', ['sign', 'me']],
    ["sign 'a b' c", ['sign', 'a b', 'c']],
    ['sign "a b" c', ['sign', 'a b', 'c']],
    ["sign ''", ['sign', '']],
    ['sign \'pkcs11:token=t;object=k\' --x="y z"', ['sign', 'pkcs11:token=t;object=k', '--x=y z']],
    [String.raw`sign a\ b \$HOME`, ['sign', 'a b', '$HOME']],
    [String.raw`sign "a\"b\\c\d"`, ['sign', String.raw`a"b\c\d`]],
    ["sign '$(rm -rf /)'", ['sign', '$(rm -rf /)']],
    ['a\'b\'"c"d', ['abcd']],
  ];
  it.each(lines)('%s is split into its words', (line, words) => {
    expect(commandWords(line)).toEqual(words);
  });

  it.each(lines)('%s is split as a shell splits it', (line, words) => {
    const output = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`]).toString();
    expect(output).toBe(words.map((word) => `${word}\n`).join(''));
  });

  const operators = ['a | b', 'a; b', 'a && b', 'a > b', 'a < b', '(a)', 'a\nb', 'a #b', 'a !b'];
  const expansions = [
    'a $HOME',
    'a $(b)',
    'a `b`',
    'a *',
    'a ?',
    'a ~/b',
    'a "$b"',
    'a "`b`"',
    'a {b,c}',
    'a [b]',
  ];
  const refused = [...operators, ...expansions, '', '   ', "''", '"a', "'a", 'a\\'];
  it.each(refused)('%j is refused, because no shell would interpret it', (line) => {
    expect(codeOf(() => commandWords(line))).toBe('usage.INVALID');
  });

  it('is refused or split, and quotes preserve every text', () => {
    forAll(100, [fc.string()], (line) => {
      codeOf(() => commandWords(line));
    });
    forAll(100, [fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 })], (words) => {
      const quoted = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
      expect(commandWords(['sign', ...quoted].join(' '))).toEqual(['sign', ...words]);
    });
  });
});
