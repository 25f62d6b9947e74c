import type * as z from 'zod';
import type { Outcome } from '../outcome.ts';

/** One way in which an input comes to the implementation, such as "one byte at a time". */
type Way<I> = readonly [name: string, run: (input: I) => Promise<Outcome> | Outcome];

/** How the cases of one kind are judged. Every way has to come to what the file expects. */
export type Judge = {
  readonly ways: readonly string[];
  /**
   * The outcomes of a case by the name of the way in, of the first way alone when `most` is 1.
   * @throws TypeError and the like for a fault of this program; what is wrong with the input is an outcome
   */
  outcomes(input: unknown, most?: number): Promise<ReadonlyMap<string, Outcome>>;
};

/** A judge of inputs of this shape. */
export const judgeBy = <I>(shape: z.ZodType<I>, ...ways: readonly Way<I>[]): Judge => ({
  ways: ways.map(([name]) => name),
  async outcomes(input, most = ways.length) {
    const typed = shape.parse(input);
    const outcomes = new Map<string, Outcome>();
    for (const [name, run] of ways.slice(0, most)) outcomes.set(name, await run(typed));
    return outcomes;
  },
});
