/** Writes docs/contribute/performance.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join, resolve } from 'node:path';
import type { Bundle } from './bundles.ts';
import { versions } from './peers.ts';
import { figureText, memoryText, ratioText, type Result } from './results.ts';

const table = (rows: readonly (readonly string[])[]): string => {
  const [head = [], ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  return [head, `|${' --- |'.repeat(rows[0]!.length)}`, ...body].join('\n');
};

function readMachine(): string[][] {
  const [cpu] = cpus();
  let flags = '';
  try {
    flags = readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    // Not Linux: whether the processor has these instructions stays unknown.
  }
  const sha = flags === '' ? 'unknown' : / sha_ni | sha2 /.test(flags) ? 'yes' : 'no';
  return [
    ['Processor', `${cpu?.model ?? 'unknown'}, ${availableParallelism()} cores`],
    ['SHA instructions', sha],
    ['Memory', `${Math.round(totalmem() / 2 ** 30)} GiB`],
    ['System', `${type()} ${release().split('.', 2).join('.')}`],
    ['Node.js', `${process.versions.node} with OpenSSL ${process.versions.openssl}`],
    ['Day', new Date().toISOString().slice(0, 10)],
  ];
}

const INTRODUCTION = `# Performance

For developers. Each row compares drillproof with what you would run instead, on the same input in the same run. \`npm run bench\`
writes this page. Figures differ from machine to machine; ratios differ less.

    npm run bench
    npm run bench verify-small mirror
    npm run bench -- --short serve-read

The first line runs every race and writes this page, on an idle machine in about 20 minutes. The second runs the races
whose names begin with these words, and the third uses small inputs, to try a change; both only print, with every contender,
the spread and the time of each part. Inputs are made once, from fixed seeds, and kept in \`drillproof-bench-2\` in the folder
for temporary files (or in \`XDG_CACHE_HOME\`).

- **median**: of {{rounds}}. The contenders take turns.
- **ratio**: our speed divided by that of the other. Above 1, drillproof is faster.
- **of the limit**: the same for the program that does the least that the work needs, and checks nothing else.
- **memory**: the highest memory of the largest process; in races of servers, that of the server.`;

function summary(results: readonly Result[]): string {
  const rows = results.map((result) => {
    const { race } = result;
    if ('failure' in result)
      return [
        race.name,
        race.title,
        `failed: ${result.failure.split('\n', 1)[0]}`,
        race.yardstick,
        '',
        '',
        '',
        '',
      ];
    const { measured, ratio, ofLimit } = result;
    const ours = measured[0]!;
    const share = ofLimit === undefined ? '' : `${Math.round(ofLimit * 100)} %`;
    const target = race.target === undefined ? '' : ratioText(race.target);
    return [
      race.name,
      race.title,
      figureText(ours),
      race.yardstick,
      ratio === undefined ? 'missing' : ratioText(ratio),
      target,
      share,
      memoryText(ours),
    ];
  });
  return table([['race', 'work', 'median', 'instead', 'ratio', 'target', 'of the limit', 'memory'], ...rows]);
}

const bytes = (count: number): string => `${(count / 1000).toFixed(1)} kB`;

const ROUNDS = 'at least five runs';
const SHORT_ROUNDS =
  'three runs, with inputs that are smaller than the titles say where a race has many parts (`--short`)';

/** Writes the page into a folder, in the format of the other pages. */
export function writePage(
  folder: string,
  results: readonly Result[],
  bundles: readonly Bundle[],
  { short = false } = {},
): void {
  const peers = Array.from(versions, ([name, version]) => [name, version ?? '**missing**']);
  const sizes = bundles.map(({ name, minified, gzip }) => [name, bytes(minified), bytes(gzip)]);
  const page = join(folder, 'performance.md');
  const text = [
    INTRODUCTION.replace('{{rounds}}', short ? SHORT_ROUNDS : ROUNDS),
    summary(results),
    '## Machine and versions',
    table([['', ''], ...readMachine()]),
    table([['program or package', 'version'], ...peers]),
    '## Bundles',
    'What one import costs an application that esbuild bundles.',
    table([['import', 'minified', 'gzip'], ...sizes]),
  ];
  writeFileSync(page, `${text.join('\n\n')}\n`);
  execFileSync(resolve(import.meta.dirname, '../node_modules/.bin/oxfmt'), [resolve(page)], { cwd: folder });
}
