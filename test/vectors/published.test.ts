import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/bytes/json/parse.ts';
import { isCode } from '../../src/codes/index.ts';
import { vectorFiles } from '../../vectors/files.ts';
import { FLAGS } from '../../vectors/flags.ts';
import { KINDS } from '../../vectors/kinds/index.ts';
import { COUNTS } from './counts.ts';
import { JUDGES } from '../../src/selftest/index.ts';
import { assertKnownVerdict, FOLDER, readVectors } from './read.ts';

const names = KINDS.map(({ name }) => name);
const jsonFiles = ['.', 'schemas'].flatMap((folder) =>
  readdirSync(join(FOLDER, folder))
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name)),
);

describe('the published vectors', () => {
  it('are, byte for byte, what the generator makes', () => {
    const made = vectorFiles();
    expect(jsonFiles.toSorted()).toEqual([...made.keys()].toSorted());
    for (const [path, text] of made) {
      expect(readFileSync(join(FOLDER, path), 'utf8') === text, `${path} differs: npm run vectors`).toBe(
        true,
      );
    }
  });

  it('are made anew without a difference', () => {
    expect([...vectorFiles()]).toEqual([...vectorFiles()]);
  });

  it('have a judge and a number of cases for every kind', () => {
    expect(Object.keys(COUNTS).toSorted()).toEqual(names.toSorted());
    expect(Object.keys(JUDGES).toSorted()).toEqual(names.toSorted());
  });

  it('stay small enough to be copied into any project', () => {
    const bytes = jsonFiles.reduce((sum, path) => sum + statSync(join(FOLDER, path)).size, 0);
    expect(bytes).toBeLessThan(5_000_000);
  });
});

describe.each(names)('%s', (name) => {
  const bytes = readFileSync(join(FOLDER, `${name}.json`));
  const file = readVectors(name);

  it('is strict JSON that ends with a line feed, and so every parser reads it alike', () => {
    expect(() => parseJson(bytes)).not.toThrow();
    expect(bytes.at(-1)).toBe(10);
  });

  it('follows its published schema, which an independent validator reads too', () => {
    const published: unknown = JSON.parse(
      readFileSync(join(FOLDER, 'schemas', `${name}.schema.json`), 'utf8'),
    );
    const schema = new Ajv2020({ strictTypes: false }).compile(published as object);
    schema(JSON.parse(bytes.toString()));
    expect(schema.errors ?? []).toEqual([]);
  });

  it('gives each case an id of its own', () => {
    const ids = file.cases.map(({ id }) => id);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it('puts no input twice', () => {
    const inputs = file.cases.map(({ input }) => JSON.stringify(input));
    const twice = file.cases.filter((_, i) => inputs.indexOf(inputs[i]!) !== i).map(({ id }) => id);
    expect(twice).toEqual([]);
  });

  it('explains every flag that it uses, and no other', () => {
    const used = new Set(file.cases.flatMap(({ flags }) => flags));
    expect(Object.keys(file.flags)).toEqual([...used].toSorted());
  });

  it('names codes of the catalogue only', () => {
    const codes = file.cases.flatMap(({ expected }) => [
      ...(expected.code === undefined ? [] : [expected.code]),
      ...(expected.codes ?? []),
      ...(expected.warnings ?? []),
    ]);
    expect(codes.filter((code) => !isCode(code))).toEqual([]);
  });

  it('has cases of both verdicts', () => {
    expect(new Set(file.cases.map(({ expected }) => expected.verdict))).toEqual(
      new Set(['valid', 'invalid']),
    );
  });
});

describe('the flags', () => {
  it('are all in use', () => {
    const used = new Set(names.flatMap((name) => Object.keys(readVectors(name).flags)));
    expect(Object.keys(FLAGS).filter((flag) => !used.has(flag))).toEqual([]);
  });
});

describe('the harness', () => {
  it('throws for a verdict that it does not know', () => {
    for (const verdict of ['acceptable', '', 'Valid'])
      expect(() => assertKnownVerdict(verdict)).toThrow(TypeError);
  });
});

describe('vectors/README.md', () => {
  const page = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  it.each(Object.entries(COUNTS))('counts the cases of %s', (name, count) => {
    const row = page.split('\n').find((line) => line.startsWith(`| [${name}.json](${name}.json)`));
    expect(row?.split('|')[2]?.trim()).toBe(String(count));
  });

  it('counts all of them', () => {
    const total = Object.values(COUNTS).reduce((sum, count) => sum + count, 0);
    expect(page).toContain(`${total.toLocaleString('en')} cases`);
  });
});
