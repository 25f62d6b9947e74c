/**
 * Side-by-side measurements: the built command against the programs that people would use instead, in one run, as
 * ratios of medians of interleaved runs. Absolute figures move from machine to machine; the ratios less so.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeExport, type Shape } from './exports.ts';

const drillproof = resolve(import.meta.dirname, '../dist/cli/main.js');
const ROUNDS = 5;

type Contender = { readonly name: string; readonly command: (root: string) => readonly string[] };
type Race = {
  readonly title: string;
  readonly shape: Shape;
  readonly contenders: readonly [Contender, ...Contender[]];
};

const verify = (...more: string[]): Contender => ({
  name: `drillproof verify ${more.join(' ')}`.trim(),
  command: (root) => [
    process.execPath,
    drillproof,
    'verify',
    `${root}/export`,
    '--trust',
    `${root}/trust.json`,
    '--quiet',
    ...more,
  ],
});
const shell = (name: string, script: string): Contender => ({
  name,
  command: (root) => ['sh', '-c', `cd ${root}/export && ${script}`],
});

const sha256sum = shell('sha256sum -c', 'sha256sum --quiet -c SHA256SUMS');
const openssl = shell(
  'openssl dgst, both cores',
  `ls parts/*.zip | xargs -P${availableParallelism()} -n 8 openssl dgst -sha256 >/dev/null`,
);
const unzip = shell('unzip -t, each part', 'for p in parts/*.zip; do unzip -tqq "$p"; done');

const RACES: readonly Race[] = [
  {
    title: 'digest depth, 32 parts of 16 MiB',
    shape: { parts: 32, objectBytes: 16 * 2 ** 20, compression: 'store' },
    contenders: [verify('--depth', 'digest', '--accept', 'intact'), sha256sum, openssl],
  },
  {
    title: 'digest depth, 2,000 parts of 64 KiB',
    shape: { parts: 2000, objectBytes: 2 ** 16, compression: 'store' },
    contenders: [verify('--depth', 'digest', '--accept', 'intact'), sha256sum, openssl],
  },
  {
    title: 'full depth, 32 stored parts of 16 MiB',
    shape: { parts: 32, objectBytes: 16 * 2 ** 20, compression: 'store' },
    contenders: [verify(), unzip, sha256sum],
  },
  {
    title: 'full depth, 32 deflated parts of 16 MiB',
    shape: { parts: 32, objectBytes: 16 * 2 ** 20, compression: 'deflate' },
    contenders: [verify(), unzip, sha256sum],
  },
  {
    title: 'full depth, one small part, whole process',
    shape: { parts: 1, objectBytes: 1000, compression: 'store' },
    contenders: [verify(), { name: 'node -e 0', command: () => [process.execPath, '-e', '0'] }],
  },
];

function seconds(command: readonly string[]): number {
  const [program = '', ...args] = command;
  const start = process.hrtime.bigint();
  execFileSync(program, args, { stdio: 'ignore' });
  return Number(process.hrtime.bigint() - start) / 1e9;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function race({ title, shape, contenders }: Race): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'drillproof-bench-'));
  try {
    await writeExport(root, shape);
    const times = contenders.map((): number[] => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, contender] of contenders.entries()) {
        const time = seconds(contender.command(root));
        if (round > 0) times[i]!.push(time); // the first round warms the page cache
      }
    }
    const ours = median(times[0]!);
    console.log(`\n${title}`);
    for (const [i, { name }] of contenders.entries()) {
      const time = median(times[i]!);
      console.log(
        `  ${name.padEnd(50)} ${(time * 1000).toFixed(0).padStart(6)} ms   ${(time / ours).toFixed(2)} x`,
      );
    }
  } finally {
    rmSync(root, { recursive: true });
  }
}

console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}`,
);
console.log('Medians; the last column is how many times as long as the first line of its block.');
for (const one of RACES) await race(one);
