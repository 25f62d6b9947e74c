/**
 * Measures an archive of many small exports, made from a seed, and rclone and restic on the same files if they are installed:
 * `npm run bench:archive -- FOLDER [EXPORTS]`. FOLDER is new and keeps the files. Prints a line for each step.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { idOf, PROJECT } from '../../test/support/evidence.ts';
import { seedPlane } from './seed.ts';

const NEW = 10;
const [folder = '', exports = '4000'] = process.argv.slice(2);
const count = Number(exports);
const root = resolve(folder);
const inRoot = (name: string): string => join(root, name);
const command = resolve('dist/cli/main.js');

/** Runs a program and prints its time in seconds, its exit code and its last lines. */
function measure(title: string, line: string, env: Record<string, string> = {}): void {
  const [program = '', ...words] = line.split(' ');
  const startedMs = performance.now();
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(2);
  const text = (stdout === '' ? stderr : stdout).trim().split('\n').slice(0, 6).join(' | ');
  process.stdout.write(
    `${title.padEnd(34)} ${seconds.padStart(8)} s  exit ${status}  ${text.slice(0, 200)}\n`,
  );
}

const drillproof = (words: string): string => `${process.execPath} ${command} ${words}`;
const hasProgram = (name: string): boolean => spawnSync(name, ['version']).status === 0;

if (!existsSync(inRoot('token'))) {
  const numbers = Array.from({ length: count + NEW }, (_, at) => at + 1);
  writeFileSync(inRoot('token'), await seedPlane(inRoot('plane'), numbers));
  const old = numbers.slice(0, count).map((n) => `${idOf('evexp', n)}\n`);
  writeFileSync(inRoot('old.txt'), old.join(''));
}
const server = spawn(process.execPath, [command, 'serve', '--data', inRoot('plane'), '--port', '0']);
server.stderr.resume();
const [line] = await once(server.stdout, 'data');
const remote = `--project ${PROJECT} --url ${String(line).trim()} --token-file token --quiet`;
server.stdout.resume();

const all = drillproof(`mirror --all ${remote} --to archive`);
measure('first run', drillproof(`mirror --list old.txt ${remote} --to archive`));
measure('ten new', all);
for (let times = 1; times <= 3; times++) measure(`nothing new, ${times}`, all);
measure('scrub, everything due', drillproof('scrub archive --quiet'));
for (let times = 1; times <= 3; times++)
  measure(`scrub, nothing due, ${times}`, drillproof('scrub archive --older-than 30d'));
measure('scrub --within 90d', drillproof('scrub archive --within 90d'));
measure('archive verify', drillproof('archive verify archive'));
measure(
  'inventory and journal, bytes',
  'wc -c archive/inventory.jsonl archive/.drillproof/scrub/archive.jsonl',
);
if (hasProgram('rclone')) {
  measure('rclone copy', 'rclone copy archive copy-rclone');
  for (let times = 1; times <= 3; times++)
    measure(`rclone copy, nothing new, ${times}`, 'rclone copy archive copy-rclone');
  measure('rclone check', 'rclone check archive copy-rclone --download');
}
if (hasProgram('restic')) {
  const env = { RESTIC_PASSWORD: 'bench', RESTIC_REPOSITORY: inRoot('restic') };
  measure('restic init', 'restic init -q', env);
  measure('restic backup', 'restic backup -q archive', env);
  measure('restic backup, nothing new', 'restic backup -q archive', env);
  measure('restic check --read-data', 'restic check -q --read-data', env);
}
// A run that is killed, and the one that completes it.
for (let kill = 1; kill <= 3; kill++) {
  const [program = '', ...words] = drillproof(`mirror --all ${remote} --to killed`).split(' ');
  const child = spawn(program, words, { cwd: root, stdio: 'ignore' });
  await pause(4_000);
  child.kill('SIGKILL');
  await once(child, 'close');
}
measure('after three kills', drillproof(`mirror --all ${remote} --to killed`));
server.kill('SIGTERM');
await once(server, 'exit');
for (const name of ['copy-rclone', 'restic', 'killed'])
  rmSync(inRoot(name), { recursive: true, force: true });
