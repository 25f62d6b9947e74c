import * as z from 'zod/mini';
import type { Code } from '../src/codes/catalogue.ts';
import type { Flag } from './flags.ts';

/** One case: what goes in, and what every implementation must make of it. */
export type VectorCase<I = unknown, E = unknown> = {
  /** Unique in its file, and never given to another case. */
  readonly id: string;
  readonly comment: string;
  readonly flags: readonly Flag[];
  readonly input: I;
  readonly expected: E;
};

/** A kind of vector: one file, one schema, one thing under test. */
export type Kind<I = unknown, E = unknown> = {
  readonly name: string;
  /** What goes in and what is expected, in a sentence. */
  readonly about: string;
  /** The clause that the cases hold an implementation to. */
  readonly clause: string;
  readonly input: z.ZodMiniType<I>;
  readonly expected: z.ZodMiniType<E>;
  readonly cases: () => readonly VectorCase<I, E>[];
};

export const codeSchema = z
  .string()
  .check(
    z.regex(/^[a-z][a-z-]*\.[A-Z][A-Z0-9_]*$/),
    z.describe('a code of drillproof; another implementation may call it as it likes'),
  );

export const hexSchema = z.string().check(z.regex(/^(?:[0-9a-f]{2})*$/));
export const base64Schema = z
  .string()
  .check(z.regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/));
/** Asked for in the input, so that an implementation without coverage needs to say nothing of it. */
export const asksCoverage = z
  .optional(z.literal(true))
  .check(z.describe('whether the coverage is expected too (formats §4, Coverage)'));
export const coverageSchema = z.optional(
  z.strictObject({ totalBytes: z.int(), coveredBytes: z.int(), attestedBytes: z.int() }),
);
export type CoverageFigures = z.infer<typeof coverageSchema>;
export const digestTextSchema = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));

const invalidSchema = z.strictObject({ verdict: z.literal('invalid'), code: codeSchema });

/** What is expected where an input is accepted with a result, or refused with one code. */
export const accepts = <V extends z.ZodMiniType>(valid: V) => z.union([valid, invalidSchema]);

/** Accepted, with nothing more to say of it. */
export const plainlyValidSchema = z.strictObject({ verdict: z.literal('valid') });

/** What is expected of a counted: its result, and every code that it utters, warnings and facts included. */
export const judgementSchema = <const R extends readonly string[]>(results: R) =>
  z.strictObject({
    verdict: z.enum(['valid', 'invalid']),
    result: z.enum(results),
    codes: z.array(codeSchema).check(z.describe('distinct codes of all findings, sorted')),
  });

export const VALID = { verdict: 'valid' } as const;
export const refused = (code: Code): { verdict: 'invalid'; code: Code } => ({ verdict: 'invalid', code });

/** Distinct and sorted, as `codes` stand in the files. */
export const sortedCodes = (codes: readonly Code[]): Code[] => [...new Set(codes)].toSorted();

/** The results of a counted with which the evidence must not be taken for good. */
const BAD: ReadonlySet<string> = new Set(['failed', 'incomplete', 'invalid']);

export const judged = <R extends string>(result: R, codes: readonly Code[]) => ({
  verdict: BAD.has(result) ? ('invalid' as const) : ('valid' as const),
  result,
  codes: sortedCodes(codes),
});
