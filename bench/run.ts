/**
 * Measures the built command, library and server against what people would use instead.
 *
 *     npm run bench                     every race; writes docs/contribute/performance.md
 *     npm run bench verify serve-read   the races whose names begin so
 *     npm run bench -- --short NAME     small inputs and three rounds, to try a change
 *     npm run bench -- --json           the results as JSON
 *     npm run bench -- --write FOLDER   also write the page into this folder
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureBundles } from './bundles.ts';
import { measure } from './measure.ts';
import { missing, versions } from './peers.ts';
import { writePage } from './page.ts';
import type { Race } from './race.ts';
import { RACES } from './races.ts';
import { compare, type Result, resultText } from './results.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'string' },
  },
});
const selected = RACES.filter(
  ({ name }) => positionals.length === 0 || positionals.some((start) => name.startsWith(start)),
);

const listNames = (names: readonly string[]): string => [...new Set(names)].join(' and ');

async function run(race: Race): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-race-'));
  // Not before: files that were removed lately slow down the next race.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    await using resources = new AsyncDisposableStack();
    const all = await race.prepare({ folder, short: values.short, resources });
    const contenders = all.filter(({ needs }) => missing(needs).length === 0);
    const absent = all.flatMap(({ name, needs }) => missing(needs).map((peer) => ({ name, peer })));
    if (contenders[0] === undefined || contenders[0] !== all[0])
      return { race, failure: `not run, because ${listNames(absent.map(({ peer }) => peer))} is missing` };
    return compare(race, measure(contenders, values.short ? 3 : 5), absent);
  } catch (error) {
    return { race, failure: error instanceof Error ? error.message : String(error) };
  }
}

const isComplete = positionals.length === 0 && !values.short;
const withBundles = isComplete || positionals.includes('bundles');
process.setMaxListeners(0); // each race and server cleans up at the end
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
if (selected.length === 0 && !withBundles) {
  console.error(`no race of this name; the races are ${RACES.map(({ name }) => name).join(', ')}, bundles`);
  process.exit(2);
}
const results: Result[] = [];
for (const race of selected) {
  const result = await run(race);
  results.push(result);
  if (!values.json) console.log(`\n${resultText(result)}`);
}
const bundles = withBundles ? await measureBundles() : [];
if (bundles.length > 0) console.table(bundles);
if (!values.json) console.table(Object.fromEntries(versions));
if (values.json) console.log(JSON.stringify(results));
const folder = values.write ?? (isComplete ? resolve(import.meta.dirname, '../docs/contribute') : undefined);
if (folder !== undefined) writePage(folder, results, values);
if (results.some((result) => 'failure' in result)) process.exitCode = 1;
