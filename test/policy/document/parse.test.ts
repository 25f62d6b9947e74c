import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_JSON_DEPTH } from '../../../src/bytes/json/parse.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { detectSyntax, parsePolicy } from '../../../src/policy/resolve.ts';
import { jsonTemplate, yamlTemplate } from '../../../src/policy/template.ts';
import { parseYaml } from '../../../src/policy/document/yaml.ts';
import { DEFAULT_DOCUMENT, policyDigest } from '../../../src/policy/policy.ts';
import { anyRules } from '../arbitrary.ts';
import { documentOf } from '../make.ts';
import { forAll } from '../../support/property.ts';
import { stringify } from 'yaml';

const HEAD = 'schemaVersion: 1\nkind: policy\n';

/** The faults of a text: pointers and messages. */
function faultsOf(text: string, path = 'policy.yaml'): readonly (readonly [string, string])[] {
  try {
    parsePolicy(toUtf8(text), path);
    return [];
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
    expect(error.code).toBe('policy.INVALID');
    const issues = error.details?.['issues'];
    if (!Array.isArray(issues)) return [['', error.message]];
    return issues.map(({ path: at, message }: { path: string; message: string }) => [at, message]);
  }
}

describe('a policy', () => {
  it('is the same in JSON and YAML', () => {
    forAll(100, [anyRules], (rules) => {
      const document = documentOf(rules);
      const asJson = parsePolicy(toUtf8(JSON.stringify(document)), 'p.json');
      const asYaml = parsePolicy(toUtf8(stringify(document)), 'p.yaml');
      expect(asJson).toEqual(document);
      expect(asYaml).toEqual(document);
      expect(policyDigest([asYaml])).toBe(policyDigest([document]));
      expect(policyDigest([{ $schema: 'x', ...document }])).toBe(policyDigest([document]));
    });
  });

  it('throws only policy.INVALID for any bytes', () => {
    forAll(
      1000,
      [
        fc.oneof(fc.uint8Array(), fc.string().map(toUtf8), fc.json().map(toUtf8)),
        fc.constantFrom('p.json', 'p.yaml', 'p'),
      ],
      (bytes, path) => {
        try {
          parsePolicy(bytes, path);
        } catch (error) {
          expect(error).toBeInstanceOf(DrillproofError);
          expect(error).toMatchObject({ code: 'policy.INVALID' });
        }
      },
    );
  });

  it.each([
    ['a.yaml', ' \n{', 'yaml'],
    ['a.YML', ' \n{', 'yaml'],
    ['a.json', 'kind: x', 'json'],
    ['a.json.yaml', ' \n{', 'yaml'],
    ['a.yaml.txt', ' \n{', 'json'],
    ['a.json.txt', 'kind: x', 'yaml'],
    ['-', ' \n{', 'json'],
    ['-', 'kind: x', 'yaml'],
  ])('with the name %s and the text %j is %s', (name, text, syntax) => {
    expect(detectSyntax(name, toUtf8(text))).toBe(syntax);
  });

  it('begins with the default policy, in both templates', () => {
    for (const [text, path] of [
      [yamlTemplate(), 'policy.yaml'],
      [jsonTemplate(), 'policy.json'],
    ] as const)
      expect(parsePolicy(toUtf8(text), path)).toEqual({
        ...DEFAULT_DOCUMENT,
        name: 'release',
        $schema: expect.stringContaining('policy.v1.schema.json'),
      });
  });

  it('has a YAML template whose commented members are all valid', () => {
    const every = yamlTemplate()
      .replace(/^( *)# (?=[a-zA-Z]+:|  )/gm, '$1')
      .replaceAll('sha256:…', `sha256:${'0'.repeat(64)}`);
    expect(faultsOf(every)).toEqual([]);
    expect(every).toContain('\nwaivers:\n');
    expect(every).toContain('\n  coverage: full');
  });
});

describe('a fault', () => {
  it('has its pointer, its line, and a near name', () => {
    expect(faultsOf(`${HEAD}outcom: {}\n`)).toEqual([
      ['/outcom', 'unknown member "outcom". Did you mean outcome? (line 3)'],
    ]);
    expect(faultsOf(`${HEAD}run:\n  drills:\n    - {patern: x}\n`)).toContainEqual([
      '/run/drills/0/patern',
      'unknown member "patern". Did you mean pattern? (line 5, rule run.drills)',
    ]);
    expect(faultsOf('{"schemaVersion":1,"kind":"policy","trials":{"reruns":"alow"}}', 'p.json')).toHaveLength(
      1,
    );
  });

  it.each(['constructor', 'valueOf', '__proto__', 'hasOwnProperty'])(
    'names the unknown member %s',
    (name) => {
      expect(faultsOf(`${HEAD}${name}: {}\n`)).toEqual([
        [`/${name}`, expect.stringContaining(`unknown member "${name}"`)],
      ]);
    },
  );

  it('in a digest is reported once', () => {
    expect(faultsOf(`${HEAD}run: {builds: ['sha256:zz']}\n`)).toHaveLength(1);
  });

  it('is reported together with all others', () => {
    const faults = faultsOf(`${HEAD}one: 1\ntwo: 2\nage: {max: 5}\nsigners: {distinct: 0}\n`);
    expect(faults.map(([path]) => path)).toEqual(
      expect.arrayContaining(['/one', '/two', '/age/max', '/signers/distinct']),
    );
  });

  it.each([
    ['an alias bomb', `${HEAD}name: &a [x, x]\ndescription: [*a, *a]\n`, 'line 3'],
    ['a lone alias', `${HEAD}name: *a\n`, 'line 3'],
    ['a tag', `${HEAD}name: !!str x\n`, 'line 3'],
    ['a merge key', `${HEAD}age: {<<: {max: 1d}}\n`, 'line 3'],
    ['two equal names', `${HEAD}name: a\nname: b\n`, 'line 4'],
    ['a name that is not text', `${HEAD}? [a]\n: b\n`, 'line'],
    ['two documents', `${HEAD}---\n${HEAD}`, 'more than one document'],
    ['a byte order mark', `\uFEFF${HEAD}`, 'byte order mark'],
    ['deep nesting', `${HEAD}name: ${'['.repeat(200)}${']'.repeat(200)}\n`, 'deep'],
    ['too many values', `${HEAD}name: [${'1,'.repeat(100_001)}]\n`, 'more than 100000 tokens'],
    ['a number that a double changes', `${HEAD}signers: {distinct: 9007199254740993}\n`, 'double'],
  ])('names %s', (_, text, words) => {
    expect(faultsOf(text).join('\n')).toContain(words);
  });

  const REST = 1024 * 1024 - HEAD.length - 16;
  it.each([
    ['commas', `name: [${','.repeat(REST)}]`],
    ['closing brackets', `name: ${']'.repeat(REST)}`],
    ['escaped line breaks', `name: "${'\\\n'.repeat(REST / 2)}"`],
    ['wrong escapes', `name: "${'\\q'.repeat(REST / 2)}"`],
    ['directives', `x\n---\n${'%\n'.repeat(REST / 2 - 4)}`],
    ['empty documents', '---\n'.repeat(REST / 4)],
    ['empty lines', '\n'.repeat(REST)],
  ])('names a mebibyte of %s before values are made of it', (_, text) => {
    expect(faultsOf(HEAD + text).join('\n')).toContain('more than 100000 tokens');
  });

  it('reads a policy of almost 100,000 tokens', () => {
    expect(faultsOf(`${HEAD}${'#\n'.repeat(33_000)}`)).toEqual([]);
  });

  it('names a file that is too large', () => {
    expect(faultsOf(`${HEAD}${'#'.repeat(1024 * 1024)}\n`)[0]?.[1]).toContain('bytes');
    expect(faultsOf(HEAD + '#'.repeat(1024 * 1024 - HEAD.length))).toEqual([]);
  });

  it('reads no, off and y as text, as YAML 1.2 does', () => {
    const { outcome } = parsePolicy(toUtf8(`${HEAD}outcome: {verdict: [no, off, y, ~x]}\n`), 'p.yaml');
    expect(outcome?.verdict).toEqual(['no', 'off', 'y', '~x']);
  });
});

it('a file named .json is refused if it is YAML but not JSON', () => {
  const text = '{"schemaVersion":1,"kind":"policy",}';
  expect(faultsOf(text, 'p.yaml')).toEqual([]);
  expect(faultsOf(text, 'p.json')).toHaveLength(1);
});

const read = (text: string) => parseYaml(text).value;
const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
/** Lines, each indented by one more blank than the line before. */
const indent = (count: number, lineOf: (n: number) => string): string =>
  Array.from({ length: count }, (_unused, n) => `${' '.repeat(n)}${lineOf(n)}\n`).join('');

describe('YAML', () => {
  it('has the same values as JSON', () => {
    const values = ['a', 'b', 1, -1.5, true, false, null, null, { c: [], d: {} }];
    expect(read('[a, "b", 1, -1.5, true, false, null, ~, {c: [], d: {}}]')).toEqual(values);
    expect(read('a:\n? b\n')).toEqual({ a: null, b: null });
    expect(read('~')).toBeNull();
    expect(read('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['60,000 members of different names', (n: number) => `n${n}: 0\n`],
    ['60,000 members of one name', () => 'n: 0\n'],
    ['60,000 flow members', (n: number) => (n === 0 ? '{n: 0' : `, n${n}: 0`)],
  ])('refuses %s', (_, member) => {
    const text = Array.from({ length: 60_000 }, (_unused, n) => member(n)).join('');
    expect(() => read(text)).toThrow(DrillproofError);
  });

  it('reads 12,000 members and finds the one name that occurs twice', () => {
    const members = Array.from({ length: 12_000 }, (_unused, n) => `n${n}: ${n}\n`).join('');
    expect(Object.keys(read(members) as object)).toHaveLength(12_000);
    expect(() => read(`${members}n7: 0\n`)).toThrow('line 12001');
  });

  it.each([
    ['lists on one line', '['.repeat(500_000)],
    ['members on one line', '{a: '.repeat(250_000)],
    ['compact lists', '- '.repeat(500_000)],
    ['complex keys', '? '.repeat(500_000)],
    ['compact lists in keys', '- ? '.repeat(250_000)],
    ['indented lists', indent(1400, () => '-')],
    ['indented members', indent(1400, () => 'a:')],
  ])('refuses a megabyte of nested %s before it is composed', (_, text) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        code: 'policy.INVALID',
        message: expect.stringContaining('nested deeper than 64 levels'),
      }),
    );
  });

  it.each([
    ['lists', indent(64, () => '-')],
    ['members', indent(64, () => 'a:')],
    ['lists in members', indent(64, (n) => (n % 2 === 0 ? 'a:' : '-'))],
    ['compact lists', '- '.repeat(64)],
    ['flow members', `${'{a: '.repeat(64)}1${'}'.repeat(64)}`],
  ])('reads 64 levels of nested %s', (_, text) => {
    expect(() => read(text)).not.toThrow();
  });

  it('may be nested as deeply as JSON, and no deeper', () => {
    expect(() => read(nested(MAX_JSON_DEPTH))).not.toThrow();
    expect(() => read(nested(MAX_JSON_DEPTH + 2))).toThrow(DrillproofError);
  });
});
