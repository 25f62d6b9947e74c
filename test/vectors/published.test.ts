import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/bytes/json/parse.ts';
import { isCode } from '../../src/codes/facts.ts';
import { vectorFiles } from '../../vectors/files.ts';
import { FLAGS } from '../../vectors/flags.ts';
import { KINDS } from '../../vectors/kinds/index.ts';
import { COUNTS } from './counts.ts';
import { CASE_KINDS } from '../../src/selftest/result.ts';
import { FOLDER, listCodes, readVectors } from './read.ts';

const names = KINDS.map(({ name }) => name);
const jsonFiles = ['.', 'schemas'].flatMap((folder) =>
  readdirSync(join(FOLDER, folder))
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name)),
);

it('the vector files equal the output of the generator, byte for byte', () => {
  const files = vectorFiles();
  expect(jsonFiles.toSorted()).toEqual([...files.keys()].toSorted());
  for (const [path, text] of files) {
    expect(readFileSync(join(FOLDER, path), 'utf8') === text, `${path} differs: npm run vectors`).toBe(true);
  }
});

it('every kind of vectors has an implementation and a case count', () => {
  expect(Object.keys(COUNTS).toSorted()).toEqual(names.toSorted());
  expect(Object.keys(CASE_KINDS).toSorted()).toEqual(names.toSorted());
});

it('the vector files stay small', () => {
  const bytes = jsonFiles.reduce((sum, path) => sum + statSync(join(FOLDER, path)).size, 0);
  expect(bytes).toBeLessThan(5_350_000);
});

describe.each(names)('%s', (name) => {
  const bytes = readFileSync(join(FOLDER, `${name}.json`));
  const file = readVectors(name);

  it(`the vectors ${name} are strict JSON and end with a line feed`, () => {
    expect(() => parseJson(bytes)).not.toThrow();
    expect(bytes.at(-1)).toBe(10);
  });

  it(`the vectors ${name} follow their published schema in an independent validator`, () => {
    const text = readFileSync(join(FOLDER, 'schemas', `${name}.schema.json`), 'utf8');
    const schema = new Ajv2020({ strictTypes: false }).compile(JSON.parse(text) as object);
    schema(JSON.parse(bytes.toString()));
    expect(schema.errors ?? []).toEqual([]);
  });

  it(`no two cases of the vectors ${name} share an id`, () => {
    const ids = file.cases.map(({ id }) => id);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it(`no two cases of the vectors ${name} share an input`, () => {
    const inputs = file.cases.map(({ input }) => JSON.stringify(input));
    const twice = file.cases.filter((_, i) => inputs.indexOf(inputs[i]!) !== i).map(({ id }) => id);
    expect(twice).toEqual([]);
  });

  it(`the vectors ${name} explain exactly the flags that they use`, () => {
    const used = new Set(file.cases.flatMap(({ flags }) => flags));
    expect(Object.keys(file.flags)).toEqual([...used].toSorted());
  });

  it(`the vectors ${name} name only codes of the catalogue`, () => {
    expect(file.cases.flatMap(listCodes).filter((code) => !isCode(code))).toEqual([]);
  });

  it(`the vectors ${name} have valid and invalid cases`, () => {
    expect(new Set(file.cases.map(({ expected }) => expected.verdict)).size).toBe(2);
  });
});

it('every flag of the vectors is used', () => {
  const used = new Set(names.flatMap((name) => Object.keys(readVectors(name).flags)));
  expect(Object.keys(FLAGS).filter((flag) => !used.has(flag))).toEqual([]);
});

const page = readFileSync(join(FOLDER, 'README.md'), 'utf8');
it.each(Object.entries(COUNTS))('vectors/README.md has the number of cases of %s', (name, count) => {
  const row = page.split('\n').find((line) => line.startsWith(`| [${name}.json](${name}.json)`));
  expect(row?.split('|')[2]?.trim()).toBe(String(count));
});

it('vectors/README.md has the total number of cases', () => {
  const total = Object.values(COUNTS).reduce((sum, count) => sum + count, 0);
  expect(page).toContain(`${total.toLocaleString('en')} cases`);
});
