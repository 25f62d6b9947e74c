import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles, SCHEMAS } from '../../docs/files.ts';
import { schemaPath } from '../../docs/make/schema.ts';

const files = generatedFiles();

it.each([...files.keys()])('docs/%s is what "npm run docs" writes', (path) => {
  expect(readFileSync(join('docs', path), 'utf8') === files.get(path)).toBe(true);
});

it('docs/schemas has every generated schema and no other file', () => {
  const existing = readdirSync('docs/schemas').map((name) => `schemas/${name}`);
  expect(existing.toSorted()).toEqual(SCHEMAS.map(schemaPath).toSorted());
});

describe.each(SCHEMAS.map((row) => [schemaPath(row), row] as const))('%s', (path, row) => {
  const schema = JSON.parse(readFileSync(join('docs', path), 'utf8')) as Record<string, unknown>;

  it(`${path} is a strict JSON Schema 2020-12 with its id, title and description`, () => {
    expect(() =>
      new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false }).compile(schema),
    ).not.toThrow();
    expect(schema['$id']).toBe(`urn:drillproof:schema:${row.name}:v${row.version}`);
    expect(schema['title']).toBe(row.title);
    expect(row.description).toMatch(/^\S.*\.$/);
  });
});
