import type * as z from 'zod/mini';
import { memoryAccess, type RandomAccess } from '../bytes/index.ts';
import type { Code } from '../codes/index.ts';
import { DrillproofError } from '../errors.ts';

/** What our implementation makes of a case, in the form in which the files expect it. */
export type Outcome = { readonly verdict: 'valid' | 'invalid'; readonly [member: string]: unknown };

export const refusal = (code: Code): Outcome => ({ verdict: 'invalid', code });

/** What a way in gives: the members of its outcome, of which `verdict` is valid unless it is given. */
type Given = Readonly<Record<string, unknown>> | void;

/** Valid with what `act` gives, or invalid with the code that it throws. */
async function tryOutcome(act: () => Given | Promise<Given>): Promise<Outcome> {
  try {
    return { verdict: 'valid', ...(await act()) };
  } catch (error) {
    if (error instanceof DrillproofError) return refusal(error.code);
    throw error;
  }
}

const BAD: ReadonlySet<string> = new Set(['failed', 'incomplete', 'invalid']);

type Uttered = { readonly findings: readonly { readonly code: string }[] };

/** The outcome of a reportOutcome: its result, and every code in the reports that belong to it. */
export const reportOutcome = (result: string, reports: readonly Uttered[]): Outcome => ({
  verdict: BAD.has(result) ? 'invalid' : 'valid',
  result,
  codes: [...new Set(reports.flatMap(({ findings }) => findings.map(({ code }) => code)))].toSorted(),
});

/** One way in which an input comes to the implementation, such as "one byte at a time". */
type Way<I> = readonly [name: string, run: (input: I) => Given | Promise<Given>];

/** How the cases of one kind are run. Every way must have the expected outcome. */
export type Kind = {
  readonly ways: readonly string[];
  /**
   * The outcomes of a case by the name of the way in, of the first way alone when `most` is 1.
   * @throws TypeError and the like for a fault of this program; what is wrong with the input is an outcome
   */
  outcomes(input: unknown, most?: number): Promise<ReadonlyMap<string, Outcome>>;
};

/** A kind whose inputs have this shape. */
export const defineKind = <I>(shape: z.ZodMiniType<I>, ...ways: readonly Way<I>[]): Kind => ({
  ways: ways.map(([name]) => name),
  async outcomes(input, most = ways.length) {
    const typed = shape.parse(input);
    const outcomes = new Map<string, Outcome>();
    for (const [name, run] of ways.slice(0, most)) outcomes.set(name, await tryOutcome(() => run(typed)));
    return outcomes;
  },
});

export const bytesOfBase64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
export const bytesOfHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

/** Random access that is asked for one byte at a time, each in its own promise. */
function byteByByte(bytes: Uint8Array): RandomAccess {
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

/** Reads that may reach outside the bytes are a fault of ours, and a source is free to throw for them. */
function strict(bytes: Uint8Array): RandomAccess {
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

/** Every way in which bytes come to the readers. */
export const WAYS: readonly (readonly [name: string, open: (bytes: Uint8Array) => RandomAccess])[] = [
  ['memory', memoryAccess],
  ['strict', strict],
  ['one byte at a time', byteByByte],
];
