import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';

/** The published schema of a document, compiled by an independent validator. */
export const schemaOf = (name: string): ValidateFunction =>
  new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(`docs/schemas/${name}.v1.schema.json`, 'utf8')) as object,
  );

/** The faults of a value, one per line; empty if it follows the schema. */
export function faultsOf(schema: ValidateFunction, value: unknown): readonly string[] {
  schema(value);
  return (schema.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath}: ${message}`);
}

type Json = unknown;
const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of a type that no member of a document has in this place. */
const wrongFor = (value: Json): Json =>
  typeof value === 'object' ? 'neither list nor object' : { wrong: 1 };

/** Every copy of a document in which one value has a wrong type, or one object has an unknown member. */
export function* damaged(value: Json, path = ''): Generator<readonly [what: string, copy: Json]> {
  yield [`${path}: another type`, wrongFor(value)];
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries())
      for (const [what, copy] of damaged(item, `${path}/${i}`)) yield [what, value.with(i, copy)];
  }
  if (!isObject(value)) return;
  yield [`${path}: an unknown member`, { ...value, unknownMember: 1 }];
  for (const [name, member] of Object.entries(value))
    for (const [what, copy] of damaged(member, `${path}/${name}`)) yield [what, { ...value, [name]: copy }];
}
