import * as z from 'zod/mini';

/** Integers that a double holds exactly, ±9007199254740991: the range of every unbounded integer of the API. */
export const integerSchema = z.int();

/** An integer greater than 0, at most 9007199254740991. */
export const positiveIntegerSchema = z.int().check(z.positive());

/** How many there are, how many bytes, how long: an integer of at least 0. */
export const countSchema = z.int().check(z.gte(0));

/** A moment in milliseconds since 1970 (control API, Conventions: fields named …AtMs). */
export const msSchema = z.int();

/** The same in our own documents, whose JSON Schemas name the unit. */
export const atMsSchema = msSchema.check(z.describe('milliseconds since 1970'));

/** A moment of virtual time in microseconds (control API, Conventions: fields named …Us). */
export const usSchema = z.int();

export const schemaVersionSchema = z.literal(1);

/** A number of bytes too large for a double: decimal, no leading zeros, at most 38 digits. */
export const decimalBytesSchema = z.string().check(z.regex(/^(?:0|[1-9][0-9]{0,37})$/));

/** An object whose members the API does not specify; they are kept. */
export const openObjectSchema = z.looseObject({});

/** A member that may be absent, and what it means for readers of the JSON Schema. */
export const allow = <T extends z.core.$ZodType>(schema: T, meaning?: string): z.ZodMiniExactOptional<T> =>
  meaning === undefined ? z.exactOptional(schema) : z.exactOptional(schema).check(z.describe(meaning));

/** The same text, typed as what a guard lets through. */
export const narrowText = <T extends string>(
  schema: z.ZodMiniString<string>,
  guard: (text: string) => text is T,
  params?: Parameters<typeof z.refine>[1],
): z.ZodMiniType<T, string> => {
  const refined: z.ZodMiniType<string, string> = schema.check(z.refine(guard, params));
  return refined as z.ZodMiniType<T, string>;
};

/** Text of `min` to `max` characters, counted as JSON Schema counts them: in code points. */
export function textSchema(min: number, max: number): z.ZodMiniString<string> {
  const length = z.refine<string>((value) => hasLength(value, min, max), {
    error: `must have ${min} to ${max} characters`,
  });
  const { _zod: inside } = length;
  // JSON Schemas have the two lengths from here.
  inside.onattach.push(({ _zod: { bag } }) => Object.assign(bag, { minimum: min, maximum: max }));
  return z.string().check(length);
}

/**
 * A value of an enumeration that the control API does not show: any text of 1 to 64 characters, so that the values of
 * another implementation pass. Ours are listed as examples (control API, Gaps in resource shapes).
 */
export const openEnumeration = (values: readonly string[]) =>
  textSchema(1, 64).check(z.meta({ examples: [...values] }));

// The length in code units decides nearly always; only text that may hold surrogate pairs is counted.
function hasLength(value: string, min: number, max: number): boolean {
  const fewest = Math.ceil(value.length / 2);
  if (value.length < min || fewest > max) return false;
  if (fewest >= min && value.length <= max) return true;
  const characters = Array.from(value).length;
  return characters >= min && characters <= max;
}

const UPPER_SNAKE_CASE = '[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*';

/** A code: one of the namespaces given as a pattern, a dot, then UPPER_SNAKE_CASE. */
export const codeSchema = (namespaces: string) =>
  z.string().check(z.regex(new RegExp(`^(?:${namespaces})\\.${UPPER_SNAKE_CASE}$`)));
