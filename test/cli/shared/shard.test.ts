import { writeFile } from 'node:fs/promises';
import { afterAll, expect, it } from 'vitest';
import { idOf } from '../../support/evidence.ts';
import { serveExports } from '../../faults/export-source.ts';
import { call, expectResult, scratch } from '../make.ts';
import { realExports, TOKEN } from './shared-work.ts';

const exports = await realExports(7);
const ids = exports.map(({ id }) => id);
const server = await serveExports(exports);
const dir = await scratch();
afterAll(async () => {
  await server.close();
  await dir[Symbol.asyncDispose]();
});
const run = (line: string, input = '') =>
  call(line, { env: { DRILLPROOF_TOKEN: TOKEN }, now: Date.now, input });
const AT = `--project prj_000000000001 --url ${server.url}`;
const file = (name: string): string => dir.path(name);

/** Runs a command for each of three shards, and writes its reports to files; returns their names. */
const runShards = (name: string, lineOf: (shard: string) => string, inputOf = (_shard: number) => '') =>
  Promise.all(
    [0, 1, 2].map(async (index) => {
      const { stdout } = await run(lineOf(`--shard ${index}/3 --json`), inputOf(index));
      await writeFile(file(`${name}-${index}.json`), stdout);
      return file(`${name}-${index}.json`);
    }),
  );
/** Mirrors three shards, each of its own list, into a folder. */
const mirrorShards = (name: string, idsOf: (shard: number) => readonly string[]) =>
  runShards(
    name,
    (shard) => `mirror --list - ${AT} --to ${file(name)} ${shard}`,
    (index) => idsOf(index).join('\n'),
  );

it('three shards mirror, verify and scrub everything once, and report merge joins their reports', async () => {
  const archive = file('archive');
  const mirrors = await mirrorShards('archive', () => ids);
  const merged = await run(`report merge ${mirrors.toReversed().join(' ')} --json`);
  expect([merged.code, JSON.parse(merged.stdout)]).toMatchObject([0, { exports: 7, complete: 7 }]);
  const mirrored = ids.map((evidenceExportId) => ({ evidenceExportId }));
  expect(JSON.parse(merged.stdout)).toMatchObject({ mirrored });
  await expectResult(run(`report merge ${mirrors.join(' ')}`), 0, '7: 7 complete, 0 failed');

  const paths = ids.map((id) => `${archive}/${id}`).join('\n');
  const verified = await runShards(
    'verify',
    (shard) => `verify --list - --accept intact --jobs 1 ${shard}`,
    () => paths,
  );
  const verdicts = await run(`report merge ${verified.join(' ')} --json`);
  expect([verdicts.code, JSON.parse(verdicts.stdout).summary]).toMatchObject([0, { judged: 7, passed: 7 }]);
  expect((await run(`report merge ${verified.join(' ')}`)).code).toBe(0);

  const scrubbed = await runShards('scrub', (shard) => `scrub ${archive} --jobs 1 ${shard}`);
  const read = await run(`report merge ${scrubbed.join(' ')} --json`);
  expect([read.code, JSON.parse(read.stdout)]).toMatchObject([0, { mirrors: 7, outcome: 'good' }]);

  for (const [files, code, exit] of [
    [mirrors.slice(1), 'report.SHARD_MISSING', 3],
    [verified.slice(0, 2), 'report.SHARD_MISSING', 3],
    [[mirrors[0], verified[1], scrubbed[2]], 'report.MERGE_MIXED', 2],
  ] as const)
    await expectResult(run(`report merge ${files.join(' ')} --json`), exit, code);
});

it('report merge refuses shards of different lists', async () => {
  const files = await mirrorShards('lists', (shard) => (shard < 2 ? ids : ids.slice(1)));
  await expectResult(run(`report merge ${files.join(' ')}`), 1, 'report.MERGE_CONFLICT');
});

it('report merge ends with the exit code of a failed shard', async () => {
  const files = await mirrorShards('bad', () => [...ids.slice(0, 2), idOf('evexp', 99)]);
  await expectResult(run(`report merge ${files.join(' ')}`), 3, 'control.NOT_FOUND');
});

const halfLine = (index: number): string =>
  `mirror --list - ${AT} --to ${file('none')} --shard ${index}/2 --json`;

it.each(['3/3', '4/3', '0/0', '-1/3', '1', '1/3/5', 'a/b', '0/10001', '1.0/3', ''])(
  '--shard refuses %j',
  async (value) => {
    const line = `mirror --list - ${AT} --to x --shard=${value}`;
    await expectResult(run(line, ids.join('\n')), 2, 'usage.INVALID');
  },
);

it('--shard out of range names the last valid shard', async () => {
  expect((await run(`verify x --shard 8/8`)).stderr).toContain('7/8');
});

it('a shard without an item of a list passes, and an empty list fails', async () => {
  const exits = await Promise.all([0, 1].map(async (index) => (await run(halfLine(index), ids[0])).code));
  expect(exits).toEqual([0, 0]);
  expect((await run(halfLine(0), '# nothing\n')).code).toBe(3);
  const verify = (index: number) =>
    run(`verify --list - --accept intact --jobs 1 --shard ${index}/2`, file(`none/${ids[0]}`));
  expect((await Promise.all([verify(0), verify(1)])).map(({ code }) => code)).toEqual([0, 0]);
});

it('report merge refuses a file that is not a report, and standard input twice', async () => {
  await writeFile(file('text'), 'VERIFIED');
  await writeFile(file('other.json'), '{"kind":"export"}');
  for (const [line, exit, code] of [
    [`report merge ${file('text')}`, 3, 'report.UNREADABLE'],
    [`report merge ${file('other.json')}`, 3, 'report.UNREADABLE'],
    ['report merge - -', 2, 'usage.INVALID'],
    [`report merge ${file('absent')}`, 2, 'io.NOT_FOUND'],
  ] as const) {
    await expectResult(run(line), exit, code);
  }
});
