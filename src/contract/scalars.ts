import * as z from 'zod/mini';
import type { Code } from '../codes/catalogue.ts';
import { DIGEST, type Digest, isDigest } from '../bytes/hash.ts';

/** Integers that a double holds exactly, ±9007199254740991: the range of every unbounded integer of the API. */
export const integerSchema = z.int();

export const positiveIntegerSchema = z.int().check(z.positive());

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

/** A member that may be absent, with its meaning for readers of the JSON Schema. */
export const optionalMember = <T extends z.core.$ZodType>(
  schema: T,
  meaning?: string,
): z.ZodMiniExactOptional<T> =>
  meaning === undefined ? z.exactOptional(schema) : z.exactOptional(schema).check(z.describe(meaning));

/** Requires that a schema has the members of the interface that documents them: editors show no comments of schemas. */
export const describing =
  <T extends object>() =>
  <S extends z.ZodMiniType<T>>(
    schema: [keyof T, keyof z.infer<S>] extends [keyof z.infer<S>, keyof T] ? S : never,
  ): S =>
    schema;

// Schemas with a named type, so that declarations do not repeat it, such as the list of all codes.
export interface CodeSchema extends z.ZodMiniType<Code, string> {}
export interface DigestSchema extends z.ZodMiniType<Digest, string> {}

/** Narrows the type of a text to that of a guard. */
export const narrowText = <T extends string>(
  schema: z.ZodMiniString<string>,
  guard: (text: string) => text is T,
  params?: Parameters<typeof z.refine>[1],
): z.ZodMiniType<T, string> => {
  const refined: z.ZodMiniType<string, string> = schema.check(z.refine(guard, params));
  return refined as z.ZodMiniType<T, string>;
};

/** Text of `min` to `max` characters, counted as JSON Schema counts them: in code points. */
export const textSchema = (min: number, max: number): z.ZodMiniString<string> =>
  z.string().check(
    z.refine((value) => hasLength(value, min, max), { error: `must have ${min} to ${max} characters` }),
    z.meta({ minLength: min, maxLength: max }),
  );

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
export const codesIn = (namespaces: string) =>
  z.string().check(z.regex(new RegExp(`^(?:${namespaces})\\.${UPPER_SNAKE_CASE}$`)));

// Every format of control API, Conventions. `$` without the m flag is the end of the text, not of a line.

const prefixed = (prefix: string) => z.string().check(z.regex(new RegExp(`^${prefix}_[0-9a-z]{12,32}$`)));
const chosenByCaller = (prefix: string) =>
  z.string().check(z.regex(new RegExp(`^${prefix}_[A-Za-z0-9][A-Za-z0-9_-]{5,95}$`)));

export const organizationIdSchema = prefixed('org');
export const projectIdSchema = prefixed('prj');
export const environmentIdSchema = prefixed('env');
export const sessionIdSchema = prefixed('ses');
export const callbackReceiverBindingIdSchema = prefixed('cbr');
export const hostedSnapshotIdSchema = prefixed('hsnap');
export const operationIdSchema = prefixed('op');
export const authoringSessionIdSchema = prefixed('authsess');
export const hostedRunIdSchema = prefixed('hrun');
export const evidenceExportIdSchema = prefixed('evexp');
export const evidenceBundleIdSchema = prefixed('evidence');
export const buildAttemptIdSchema = prefixed('attempt');
export const sourceDraftIdSchema = prefixed('draft');

export const runIdSchema = chosenByCaller('run');
export const correlationIdSchema = chosenByCaller('corr');
export const pendingEventIdSchema = chosenByCaller('pending');

/** `sha256:` and 64 lowercase hex characters (control API, Conventions). */
export const digestSchema = z.string().check(z.regex(DIGEST));

/** The same in our own documents, typed as a `Digest`. */
export const typedDigestSchema: DigestSchema = narrowText(digestSchema, isDigest);

/**
 * drillId, scenarioId, packageId, faultId: it begins with a letter; the segments after a hyphen or underscore may
 * begin with a digit, as in `checkout-2`. 1 to 96 characters.
 */
export const slugSchema = z.string().check(z.regex(/^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/), z.maxLength(96));

export const idempotencyKeySchema = z.string().check(z.regex(/^[A-Za-z0-9._:-]{8,128}$/));

/** The id of a local report: ours begin with `lrep_`, others may be anything that is safe in a path (formats §1). */
export const localReportIdSchema = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,128}$/));

/** An identifier to which the control API gives no format: 1 to 128 characters. */
export const opaqueIdSchema = textSchema(1, 128);

/** The person or program that requested, made or uploaded something: 1 to 255 characters. */
export const principalSchema = textSchema(1, 255);

/** The seed of a world or a run: 1 to 20 characters. */
export const seedSchema = textSchema(1, 20);

export const revisionSchema = z.string().check(z.regex(/^[0-9a-f]{40}$/));

const NUMERIC = '(?:0|[1-9][0-9]*)';
const PRERELEASE = `(?:${NUMERIC}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = '[0-9A-Za-z-]+';

/** major.minor.patch with optional prerelease and build suffix (Semantic Versioning 2.0.0 §2, §9, §10). */
export const semverSchema = z
  .string()
  .check(
    z.regex(
      new RegExp(
        `^${NUMERIC}\\.${NUMERIC}\\.${NUMERIC}` +
          `(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
      ),
    ),
  );
