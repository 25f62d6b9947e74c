import * as fc from 'fast-check';
import * as z from 'zod/mini';

/** The part of JSON Schema with which the OpenAPI document describes requests. */
const nodeSchema = z.looseObject({
  type: z.optional(z.string()),
  enum: z.optional(z.array(z.json())),
  pattern: z.optional(z.string()),
  minLength: z.optional(z.number()),
  maxLength: z.optional(z.number()),
  minimum: z.optional(z.number()),
  maximum: z.optional(z.number()),
  exclusiveMinimum: z.optional(z.number()),
  properties: z.optional(z.record(z.string(), z.json())),
  required: z.optional(z.array(z.string())),
});
type Node = z.infer<typeof nodeSchema>;
type Json = z.infer<ReturnType<typeof z.json>>;

const LONGEST = 200;
const WIDE = 2 ** 51;

function drawText({ pattern, minLength = 0, maxLength = LONGEST }: Node): fc.Arbitrary<Json> {
  const hasLength = (value: string): boolean => {
    const characters = Array.from(value).length; // counted as JSON Schema counts
    return characters >= minLength && characters <= maxLength;
  };
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(hasLength);
  return fc.string({ minLength, maxLength: Math.min(maxLength, LONGEST), unit: 'binary' }).filter(hasLength);
}

/** Small integers are as likely as all others, because versions and sizes are small. */
function drawInteger({ minimum, maximum, exclusiveMinimum }: Node): fc.Arbitrary<Json> {
  const min = Math.max(minimum ?? Number.MIN_SAFE_INTEGER, (exclusiveMinimum ?? Number.MIN_SAFE_INTEGER) + 1);
  const max = maximum ?? Number.MAX_SAFE_INTEGER;
  const least = Math.max(min, 0);
  const small = fc.integer({ min: least, max: Math.min(max, least + 3) });
  const any = fc.integer({ min: Math.max(min, -WIDE), max: Math.min(max, WIDE) });
  return fc.oneof(small, any, fc.constantFrom(min, max));
}

function drawNumber({ exclusiveMinimum = 0, maximum = 1e6 }: Node): fc.Arbitrary<Json> {
  const options = { min: exclusiveMinimum, max: maximum, noNaN: true, noDefaultInfinity: true };
  return fc.double(options).filter((value) => value > exclusiveMinimum);
}

function drawObject({ properties = {}, required = [] }: Node): fc.Arbitrary<Json> {
  const members = Object.entries(properties).map(([name, node]) => [name, drawJson(node)] as const);
  return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
}

const TYPES: Readonly<Record<string, (node: Node) => fc.Arbitrary<Json>>> = {
  string: drawText,
  integer: drawInteger,
  number: drawNumber,
  object: drawObject,
};

/** Draws values that a schema allows. A schema of an unknown type is an error. */
export function drawJson(schema: unknown): fc.Arbitrary<Json> {
  const node = nodeSchema.parse(schema);
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  const make = TYPES[node.type ?? ''];
  if (make === undefined) throw new Error(`no arbitrary for ${JSON.stringify(schema)}`);
  return make(node);
}

/** Draws damaged copies of a value: a member is removed, added or replaced, or the whole value is. */
export function drawDamaged(value: unknown): fc.Arbitrary<unknown> {
  const other = fc.oneof(
    fc.constantFrom<unknown>(null, true, [], {}, '', -1, 0.5, 1e300, '\u0000', 'x'.repeat(40_000)),
    fc.jsonValue({ maxDepth: 1 }),
  );
  if (typeof value !== 'object' || value === null) return other;
  const names = Object.keys(value);
  const added = fc.record({ name: fc.constantFrom('extra', '__proto__x', 'projectId'), member: other });
  const changes = [other, added.map(({ name, member }) => ({ ...value, [name]: member }))];
  if (names.length === 0) return fc.oneof(...changes);
  const name = fc.constantFrom(...names);
  return fc.oneof(
    ...changes,
    name.map((removed) => Object.fromEntries(Object.entries(value).filter(([kept]) => kept !== removed))),
    fc.tuple(name, other).map(([changed, member]) => ({ ...value, [changed]: member })),
  );
}
