import type { Cli } from '../cli.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { jobsOption, parseNumberBetween, STANDARD } from '../shared/options/options.ts';
import { packaging } from '#packaging';
import { platform } from '#platform';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { didYouMean } from '../../bytes/text/wording.ts';
import { collectBytes, mapConcurrently } from '../../bytes/async.ts';
import { memoryAccess } from '../../bytes/random-access.ts';
import { awaitCall } from '../../node/fs-errors.ts';
import { inTemporaryFolder } from '../../node/temporary-folder.ts';
import { openZip } from '../../zip/read/open.ts';
import { escapeText } from '../../report/printable.ts';
import { execCase, type ExecOptions } from '../../selftest/exec.ts';
import {
  type CaseResult,
  findCaseKind,
  runCase,
  selftestReport,
  type SelftestReport,
} from '../../selftest/result.ts';
import {
  MAX_VECTOR_BYTES,
  parseVectorFile,
  type SelftestCase,
  type VectorFile,
} from '../../selftest/case-folder.ts';
import { readInput } from '../shared/input/input.ts';
import { usageError } from '../shared/options/values.ts';
import { withProgress } from '../shared/output/progress.ts';
import { readVersion } from '../shared/output/product.ts';
import { writeSelftest } from './output.ts';

const SELFTEST = [
  ...STANDARD,
  option('--kind <kind>', 'run only cases of this kind').repeat(),
  option('--case <id>', 'run only this case').repeat(),
  option('--vectors <path>', 'folder or ZIP of the vectors (default: that of this package)'),
  option('--exec <command>', 'test this command instead; see docs/formats/selftest.md'),
  option(
    '--timeout <seconds>',
    'time limit of the command for each case',
    parseNumberBetween(1, 3600),
  ).default(60),
  jobsOption('run this many commands at once'),
];
type SelftestOptions = OptionsOf<typeof SELFTEST>;

export function defineCommand(command: CliCommand, cli: Cli): void {
  command
    .description('Run the published conformance vectors against this program or another verifier.')
    .perform(SELFTEST, (options) => runSelftest(cli, options))
    .examples({
      'test this installation': 'drillproof selftest',
      'another verifier': 'drillproof selftest --exec "python3 verifier.py" --json',
    });
}

type Row = { readonly kind: string; readonly testCase: SelftestCase };

async function runSelftest(cli: Cli, options: SelftestOptions): Promise<void> {
  const files = await readVectors(cli, options);
  const rows = files.flatMap(({ kind, cases }) => cases.map((testCase) => ({ kind, testCase })));
  const report =
    options.exec === undefined ? await testProgram(cli, rows) : await testCommand(cli, rows, options);
  await writeSelftest(cli, report);
}

async function testProgram(cli: Cli, rows: readonly Row[]): Promise<SelftestReport> {
  const results: CaseResult[] = [];
  for (const { kind, testCase } of rows) {
    cli.signal.throwIfAborted();
    const tests = findCaseKind(kind);
    if (tests === undefined)
      results.push({ kind, id: testCase.id, way: platform.name, state: 'unsupported' });
    else results.push(...(await runCase(kind, testCase, tests, platform.name)));
  }
  return selftestReport(`drillproof ${await readVersion()}`, results);
}

async function testCommand(
  cli: Cli,
  rows: readonly Row[],
  options: SelftestOptions,
): Promise<SelftestReport> {
  const { exec: command = '', timeout, jobs } = options;
  return inTemporaryFolder('selftest', async (scratch) => {
    const exec: ExecOptions = { command, timeoutMs: timeout * 1000, scratch, signal: cli.signal };
    let done = 0;
    const results = await withProgress(cli, 'tried', 'cases', ({ update }) =>
      mapConcurrently(rows, jobs, async ({ kind, testCase }) => {
        cli.signal.throwIfAborted();
        const result = await execCase(kind, testCase, exec);
        update({ done: ++done, of: rows.length });
        return result;
      }),
    );
    return selftestReport(command, results);
  });
}

async function readVectors(cli: Cli, options: SelftestOptions): Promise<readonly VectorFile[]> {
  const { vectors = packaging.vectors, kind: wantedKinds, case: ids } = options;
  if (vectors === undefined)
    throw usageError(
      'the single file contains no vectors',
      'Pass --vectors dist/vectors.zip with the path of that file of the package.',
    );
  const readers = await (vectors.endsWith('.zip') ? openArchive(vectors, cli) : openFolder(vectors, cli));
  const kinds = [...readers.keys()].toSorted();
  for (const kind of wantedKinds ?? []) assertKnown('kind', kind, kinds);
  const files: VectorFile[] = [];
  for (const kind of kinds.filter((name) => wantedKinds?.includes(name) ?? true))
    files.push(parseVectorFile(await readers.get(kind)!(), join(vectors, `${kind}.json`)));
  return ids === undefined ? files : selectCases(files, ids);
}

/** What reads each file of vectors, by its kind. */
type Readers = ReadonlyMap<string, () => Promise<Uint8Array>>;
const listKinds = (names: readonly string[]): string[] =>
  names.flatMap((name) => /^([^/]+)\.json$/.exec(name)?.[1] ?? []);

async function openFolder(folder: string, cli: Cli): Promise<Readers> {
  const names = await awaitCall(folder, 'read', readdir(folder));
  const read = (kind: string) => readInput(join(folder, `${kind}.json`), MAX_VECTOR_BYTES, cli);
  return new Map(listKinds(names).map((kind) => [kind, () => read(kind)]));
}

/** Opens the archive in which the package contains the vectors. */
async function openArchive(path: string, cli: Cli): Promise<Readers> {
  const archive = await openZip(memoryAccess(await readInput(path, MAX_VECTOR_BYTES, cli)));
  const readKind = (kind: string) => {
    const entry = archive.entries.find(({ name }) => name === `${kind}.json`)!;
    return collectBytes(archive.read(entry), MAX_VECTOR_BYTES);
  };
  return new Map(
    listKinds(archive.entries.map(({ name }) => name)).map((kind) => [kind, () => readKind(kind)]),
  );
}

function selectCases(files: readonly VectorFile[], ids: readonly string[]): VectorFile[] {
  const allIds = [...new Set(files.flatMap(({ cases }) => cases.map(({ id }) => id)))];
  for (const id of ids) assertKnown('case', id, allIds);
  return files
    .map((file) => ({ ...file, cases: file.cases.filter(({ id }) => ids.includes(id)) }))
    .filter(({ cases }) => cases.length > 0);
}

function assertKnown(what: string, name: string, names: readonly string[]): void {
  if (names.includes(name)) return;
  const hint = names.length < 40 ? `There are ${names.join(', ')}.` : 'See the files in vectors/.';
  throw usageError(`there is no ${what} "${escapeText(name)}"`, didYouMean(name, names) ?? hint);
}
