import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../docs/schemas');

/** A published schema, compiled by an independent validator. */
export const schemaOf = (name: string): ValidateFunction =>
  new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(join(FOLDER, `${name}.v1.schema.json`), 'utf8')) as object,
  );

/** The faults of a value, one per line; empty if it follows the schema. */
export function faultsOf(schema: ValidateFunction, value: unknown): readonly string[] {
  schema(value);
  return (schema.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath}: ${message}`);
}

type Json = unknown;
const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Yields every copy of a document in which one value has a wrong type, or one object has an unknown member. */
function* damage(value: Json, path = ''): Generator<readonly [fault: string, copy: Json]> {
  yield [`${path}: a wrong type`, typeof value === 'object' ? 'neither list nor object' : { wrong: 1 }];
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries())
      for (const [fault, copy] of damage(item, `${path}/${i}`)) yield [fault, value.with(i, copy)];
  }
  if (!isObject(value)) return;
  yield [`${path}: an unknown member`, { ...value, unknownMember: 1 }];
  for (const [name, member] of Object.entries(value))
    for (const [fault, copy] of damage(member, `${path}/${name}`)) yield [fault, { ...value, [name]: copy }];
}

/** The faults that a schema does not notice in damaged copies of documents. */
export const missedFaults = (schema: ValidateFunction, documents: readonly Json[]): string[] =>
  documents
    .flatMap((document) => [...damage(document)])
    .flatMap(([fault, copy]) => (schema(copy) ? [fault] : []));
