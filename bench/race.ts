import { join, resolve } from 'node:path';
import type { Contender } from './measure.ts';

/** The folder of a race, its size (a short one takes seconds), and the resources to release after it. */
export type Setting = {
  readonly folder: string;
  readonly short: boolean;
  readonly resources: AsyncDisposableStack;
};

/** A row of the table of races: our work, what a user would run instead, and the target. */
export type Race = {
  readonly name: string;
  readonly title: string;
  /** The contender that a user would run instead. */
  readonly yardstick: string;
  /** The contender that does the least that the work needs, if there is one. */
  readonly limit?: string;
  /** Our speed as a part of that of the yardstick. */
  readonly target?: number;
  readonly maxSeconds?: number;
  readonly maxRssMiB?: number;
  /** The first contender is ours. */
  readonly prepare: (setting: Setting) => Promise<readonly Contender[]>;
};

type Command = [string, ...string[]];

const drillproof = resolve(import.meta.dirname, '../dist/cli/main.js');
/** The built command. */
export const cli = (...args: string[]): Command => [process.execPath, drillproof, ...args];
/** A program of `bench/programs`. */
export const program = (name: string, ...args: string[]): Command => [
  process.execPath,
  join(import.meta.dirname, 'programs', name),
  ...args,
];
export const shell = (script: string, ...args: string[]): Command => ['sh', '-ec', script, 'sh', ...args];
