import { dirname, join } from 'node:path';
import { DEFAULT_POLICY, MAX_POLICY_BYTES, type Policy, readPolicy } from '../../policy/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';

/** The policy of a file with everything that it extends (default: the default policy). */
export async function openPolicy(cli: Cli, path: string | undefined): Promise<Policy> {
  if (path === undefined) return DEFAULT_POLICY;
  const read = async (file: string) => ({
    path: file,
    bytes: await readInput(file, MAX_POLICY_BYTES, cli),
  });
  return readPolicy(await read(path), (parent, from) => read(besides(from, parent)));
}

/** Paths in standard input are relative to the working directory. */
const besides = (from: string, path: string): string => (from === '-' ? path : join(dirname(from), path));
