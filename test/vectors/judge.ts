import * as z from 'zod';
import type { Outcome } from './outcome.ts';

/** The outcomes of a case by the name of the way in; all must be what the file expects. */
export type Judge = (input: unknown) => Promise<ReadonlyMap<string, Outcome>>;

type Way<I> = readonly [name: string, run: (input: I) => Promise<Outcome> | Outcome];

/** A judge of inputs of this shape. */
export const judgeBy =
  <I>(shape: z.ZodType<I>, ...ways: readonly Way<I>[]): Judge =>
  async (input) => {
    const typed = shape.parse(input);
    const outcomes = new Map<string, Outcome>();
    for (const [name, run] of ways) outcomes.set(name, await run(typed));
    return outcomes;
  };
