import type * as z from 'zod/mini';
import { memoryAccess, type RandomAccess } from '../bytes/random-access.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import type { Code } from '../codes/catalogue.ts';
import { DrillproofError } from '../errors.ts';
import { parseTrustStore, type TrustStore } from '../trust/store.ts';

/** The outcome of a case, in the form of the vector files. */
export type CaseOutcome = { readonly verdict: 'valid' | 'invalid'; readonly [member: string]: unknown };

export const makeRefusal = (code: Code): CaseOutcome => ({ verdict: 'invalid', code });

/** The members of an outcome. `verdict` is valid by default. */
type Members = Readonly<Record<string, unknown>> | void;

/** Valid with the members that `act` returns, or invalid with the code that it throws. */
async function tryOutcome(act: () => Members | Promise<Members>): Promise<CaseOutcome> {
  try {
    return { verdict: 'valid', ...(await act()) };
  } catch (error) {
    if (error instanceof DrillproofError) return makeRefusal(error.code);
    throw error;
  }
}

const BAD: ReadonlySet<string> = new Set(['failed', 'incomplete', 'invalid']);

type HasFindings = { readonly findings: readonly { readonly code: string }[] };

export const makeOutcome = (result: string, reports: readonly HasFindings[]): CaseOutcome => ({
  verdict: BAD.has(result) ? 'invalid' : 'valid',
  result,
  codes: [...new Set(reports.flatMap(({ findings }) => findings.map(({ code }) => code)))].toSorted(),
});

/** One way to pass an input, such as "one byte at a time". */
type Way<I> = readonly [name: string, run: (input: I) => Members | Promise<Members>];

/** The cases of one kind. Every way must have the expected outcome. */
export type CaseKind = {
  readonly ways: readonly string[];
  /**
   * The outcomes of a case by the name of the way, for at most `most` ways.
   * @throws TypeError for a bug of this program; an invalid input has an outcome
   */
  outcomes(input: unknown, most?: number): Promise<ReadonlyMap<string, CaseOutcome>>;
};

/** Defines a kind whose inputs have this shape. */
export const defineKind = <I>(shape: z.ZodMiniType<I>, ...ways: readonly Way<I>[]): CaseKind => ({
  ways: ways.map(([name]) => name),
  async outcomes(input, most = ways.length) {
    const typed = shape.parse(input);
    const outcomes = new Map<string, CaseOutcome>();
    for (const [name, run] of ways.slice(0, most)) outcomes.set(name, await tryOutcome(() => run(typed)));
    return outcomes;
  },
});

export const bytesOfBase64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
export const bytesOfHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

/** Creates random access that reads one byte at a time, each in its own promise. */
function createBytewiseAccess(bytes: Uint8Array): RandomAccess {
  const source = memoryAccess(bytes);
  return {
    size: source.size,
    async read(offset, length) {
      const whole = new Uint8Array(length);
      for (let i = 0; i < length; i++) whole.set(await source.read(offset + i, 1), i);
      return whole;
    },
  };
}

/** Creates random access that throws for reads outside the bytes, as any source may. */
function createStrictAccess(bytes: Uint8Array): RandomAccess {
  const source = memoryAccess(bytes);
  return {
    size: source.size,
    read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > source.size)
        throw new RangeError('a read outside the bytes');
      return bytes.slice(offset, offset + length);
    },
  };
}

/** Every way to pass bytes to the readers. */
export const WAYS: readonly (readonly [name: string, open: (bytes: Uint8Array) => RandomAccess])[] = [
  ['memory', memoryAccess],
  ['strict', createStrictAccess],
  ['one byte at a time', createBytewiseAccess],
];

/** The option `trust` for the text of a trust store, if there is one. */
export const trustOf = (trust: string | undefined): { readonly trust?: TrustStore } =>
  trust === undefined ? {} : { trust: parseTrustStore(toUtf8(trust)) };
