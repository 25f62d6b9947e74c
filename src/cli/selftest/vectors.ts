import { packaging } from '#packaging';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ioError } from '../../node/index.ts';
import { printable } from '../../report/index.ts';
import { MAX_VECTOR_BYTES, parseVectorFile, type VectorFile } from '../../selftest/index.ts';
import type { Cli } from '../cli.ts';
import { readInput } from '../shared/input/input.ts';
import { didYouMean } from '../../bytes/index.ts';
import { usageError } from '../shared/options/usage.ts';

export type Selection = {
  readonly vectors?: string;
  readonly kind?: readonly string[];
  readonly case?: readonly string[];
};

/**
 * The files of vectors in a folder, by kind, with the cases that are asked for.
 * @throws DrillproofError `selftest.VECTORS_INVALID`; `usage.INVALID` for a kind or case that there is not
 */
export async function readVectors(cli: Cli, selection: Selection): Promise<readonly VectorFile[]> {
  const { vectors = packaging.selftest?.vectors, kind: wanted, case: ids } = selection;
  if (vectors === undefined)
    throw usageError('the single file carries no vectors', 'Give --vectors DIR with those of the package.');
  const kinds = await kindsIn(vectors);
  for (const kind of wanted ?? []) assertKnown('kind', kind, kinds);
  const files: VectorFile[] = [];
  for (const kind of kinds.filter((one) => wanted?.includes(one) ?? true)) {
    const path = join(vectors, `${kind}.json`);
    files.push(parseVectorFile(await readInput(path, MAX_VECTOR_BYTES, cli), path));
  }
  return ids === undefined ? files : withCases(files, ids);
}

async function kindsIn(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
      .toSorted();
  } catch (cause) {
    throw ioError(cause, folder, 'read');
  }
}

function withCases(files: readonly VectorFile[], ids: readonly string[]): VectorFile[] {
  const known = [...new Set(files.flatMap(({ cases }) => cases.map(({ id }) => id)))];
  for (const id of ids) assertKnown('case', id, known);
  return files
    .map((file) => ({ ...file, cases: file.cases.filter(({ id }) => ids.includes(id)) }))
    .filter(({ cases }) => cases.length > 0);
}

function assertKnown(what: string, given: string, known: readonly string[]): void {
  if (known.includes(given)) return;
  const names = known.length < 40 ? `There are ${known.join(', ')}.` : 'See the files in vectors/.';
  throw usageError(`there is no ${what} "${printable(given)}"`, didYouMean(given, known) ?? names);
}
