import { relative, resolve } from 'node:path';
import type { Cli } from '../cli.ts';

export type DemoOptions = {
  /** Folder with package-lock.json and node_modules. */
  readonly project: string;
  /** Folder that keeps the mirror and the keys; it must not exist yet. */
  readonly out: string;
};

/** What the demonstration came to: one row for each expectation. */
export type DemoSummary = {
  readonly bundles: number;
  readonly bytes: number;
  readonly mirror: string;
  readonly manifestDigest: string;
  readonly seconds: number;
  readonly expectations: readonly Expectation[];
};
type Expectation = { readonly what: string; readonly held: boolean; readonly detail: string };

/** The demonstration while it runs. */
export type Demo = DemoOptions & {
  readonly cli: Cli;
  readonly tell: (line: string) => Promise<void>;
  readonly expectations: Expectation[];
  /** Folder for what is taken away at the end. */
  readonly work: string;
};

/** Records whether something came out as it must, and shows it. */
export async function expect(demo: Demo, what: string, held: boolean, detail: string): Promise<void> {
  demo.expectations.push({ what, held, detail });
  await demo.tell(`   ${held ? 'ok    ' : 'NOT OK'}  ${what}: ${detail}`);
}

/** A path as a person would type it from where they are. */
export const shown = (path: string): string => relative(process.cwd(), resolve(path)) || '.';
