import * as fc from 'fast-check';
import * as z from 'zod/mini';

/** The part of JSON Schema that requests are described with in the OpenAPI document. */
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

function text({ pattern, minLength = 0, maxLength = LONGEST }: Node): fc.Arbitrary<Json> {
  const right = (value: string): boolean => {
    const characters = Array.from(value).length; // counted as JSON Schema counts
    return characters >= minLength && characters <= maxLength;
  };
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(right);
  return fc.string({ minLength, maxLength: Math.min(maxLength, LONGEST), unit: 'binary' }).filter(right);
}

/** Small integers are as likely as any: they are what versions and sizes are. */
function integer({ minimum, maximum, exclusiveMinimum }: Node): fc.Arbitrary<Json> {
  const min = Math.max(minimum ?? Number.MIN_SAFE_INTEGER, (exclusiveMinimum ?? Number.MIN_SAFE_INTEGER) + 1);
  const max = maximum ?? Number.MAX_SAFE_INTEGER;
  const least = Math.max(min, 0);
  const small = fc.integer({ min: least, max: Math.min(max, least + 3) });
  const any = fc.integer({ min: Math.max(min, -WIDE), max: Math.min(max, WIDE) });
  return fc.oneof(small, any, fc.constantFrom(min, max));
}

function number({ exclusiveMinimum = 0, maximum = 1e6 }: Node): fc.Arbitrary<Json> {
  const options = { min: exclusiveMinimum, max: maximum, noNaN: true, noDefaultInfinity: true };
  return fc.double(options).filter((value) => value > exclusiveMinimum);
}

function object({ properties = {}, required = [] }: Node): fc.Arbitrary<Json> {
  const members = Object.entries(properties).map(([name, node]) => [name, arbitraryJson(node)] as const);
  return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
}

const TYPES: Readonly<Record<string, (node: Node) => fc.Arbitrary<Json>>> = {
  string: text,
  integer,
  number,
  object,
};

/** What a schema allows. A schema with a keyword that is not known plane is an error, not a shrug. */
export function arbitraryJson(schema: Json): fc.Arbitrary<Json> {
  const node = nodeSchema.parse(schema);
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  const make = TYPES[node.type ?? ''];
  if (make === undefined) throw new Error(`no arbitrary for ${JSON.stringify(schema)}`);
  return make(node);
}

const isObject = (value: Json): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value with one thing spoiled: a member gone, added or replaced, or the whole of another kind. */
export function spoiled(value: Json): fc.Arbitrary<Json> {
  const other = fc.oneof(
    fc.constantFrom<Json>(null, true, [], {}, '', -1, 0.5, 1e300, '\u0000', 'x'.repeat(40_000)),
    fc.json({ maxDepth: 1 }).map((json) => z.json().parse(JSON.parse(json))),
  );
  if (!isObject(value)) return other;
  const names = Object.keys(value);
  const added = fc.record({ name: fc.constantFrom('extra', '__proto__x', 'projectId'), member: other });
  const changes = [other, added.map(({ name, member }): Json => ({ ...value, [name]: member }))];
  if (names.length > 0) {
    const name = fc.constantFrom(...names);
    changes.push(
      name.map((gone): Json =>
        Object.fromEntries(Object.entries(value).filter(([member]) => member !== gone)),
      ),
      fc.tuple(name, other).map(([changed, member]): Json => ({ ...value, [changed]: member })),
    );
  }
  return fc.oneof(...changes);
}
