/** Writes docs/contribute/performance.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join, resolve } from 'node:path';
import { figureText, memoryText, ratioText, type Result } from './results.ts';

const table = (rows: readonly (readonly string[])[]): string => {
  const [head = [], ...body] = rows.map((row) => `| ${row.join(' | ')} |`);
  return [head, `|${' --- |'.repeat(rows[0]!.length)}`, ...body].join('\n');
};

/** The machine and the day of the figures, in one sentence. */
function describeMachine(): string {
  const [cpu] = cpus();
  let flags = '';
  try {
    flags = readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    // Not Linux: whether the processor has these instructions stays unknown.
  }
  const sha = / sha_ni | sha2 /.test(flags) ? ' with SHA instructions' : '';
  const { node, openssl } = process.versions;
  const day = new Date().toISOString().slice(0, 10);
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  const system = `${type()} ${release().split('.', 2).join('.')}`;
  return `Measured on ${day} with Node.js ${node} (OpenSSL ${openssl}) on ${system}: ${availableParallelism()} cores of ${cpu?.model ?? 'an unknown processor'}${sha}, ${memory}.`;
}

const INTRODUCTION = `# Performance

For developers. Each row compares drillproof with what you would run instead, on the same input in the same run. \`npm run bench\`
writes this page. Figures differ from machine to machine; ratios differ less.

    npm run bench
    npm run bench verify-small mirror
    npm run bench -- --short serve-read

The first line runs every race and writes this page, on an idle machine in about 20 minutes. The second runs the races
whose names begin with these words, and the third uses small inputs, to try a change; both only print, with every contender,
the spread, the time of each part, and at the end the versions of all programs and the sizes of bundles. Inputs are made once, from fixed seeds, and kept in \`drillproof-bench-2\` in the folder
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

const ROUNDS = 'at least five runs';
const SHORT_ROUNDS =
  'three runs, with inputs that are smaller than the titles say where a race has many parts (`--short`)';

/** The section with what `bench/browser.ts` printed stays, because it is not one of the races. */
function readBrowserSection(page: string): string[] {
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
  const at = text.indexOf('## The page in a browser');
  return at < 0 ? [] : [text.slice(at).trimEnd()];
}

export function writePage(folder: string, results: readonly Result[], { short = false } = {}): void {
  const page = join(folder, 'performance.md');
  const introduction = INTRODUCTION.replace('{{rounds}}', short ? SHORT_ROUNDS : ROUNDS);
  const text = [introduction, describeMachine(), summary(results), ...readBrowserSection(page)];
  writeFileSync(page, `${text.join('\n\n')}\n`);
  execFileSync(resolve(import.meta.dirname, '../node_modules/.bin/oxfmt'), [resolve(page)], { cwd: folder });
}
