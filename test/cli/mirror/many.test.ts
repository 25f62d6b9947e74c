import { readdir, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { placeBelow } from '../../../src/cli/mirror/many.ts';
import { faultProxy } from '../../faults/proxy.ts';
import { servedExports } from './served-exports.ts';

const served = await servedExports();
afterAll(() => served[Symbol.asyncDispose]());

const UNKNOWN = 'evexp_000000000099';
const codeOf = (stderr: string): string | undefined => stderr.split(': ')[1];

describe('mirror --list', () => {
  it('mirror --list copies each export into its own folder, from a file or standard input', async () => {
    const list = `# ours\n\n${served.ids.join('\r\n')}\n`;
    await writeFile(served.path('list.txt'), list);
    for (const [to, from] of [
      ['listed', 'list.txt'],
      ['piped', '-'],
    ]) {
      const { code, stdout } = await served.call(`mirror --list ${from} --to ${to}`, list);
      const [exports, files, transfer, ...more] = stdout.split('\n');
      expect([code, exports, more]).toEqual([0, 'exports   2: 2 complete, 0 failed, 0 untried', ['']]);
      expect(files).toMatch(/^files {5}3 of 3 files, .* \(3 fetched\)$/);
      expect(transfer).toMatch(/^transfer {2}\d.* in \d/);
      for (const id of served.ids)
        expect((await served.run(`verify ${to}/${id} --trust trust.json --jobs 1`)).code).toBe(0);
    }
  });

  it('mirror --list continues after a failure, reports it last with advice, and ends with its exit code', async () => {
    const list = [UNKNOWN, ...served.ids].join('\n');
    const { code, stdout, stderr } = await served.call('mirror --list - --to some', list);
    expect([code, stderr]).toEqual([3, 'failed: evexp_000000000099: control.NOT_FOUND\n']);
    expect(stdout).toContain('3: 2 complete, 1 failed, 0 untried');
    const [row, , advice] = stdout.trimEnd().split('\n').slice(-3);
    expect(row).toMatch(/^ {2}evexp_000000000099 +control\.NOT_FOUND /);
    expect(advice).toMatch(/^control\.NOT_FOUND: \S/);
    expect((await readdir(served.path('some'))).toSorted()).toEqual(served.ids.toSorted());
  });

  it('mirror --list writes events for each export, and a total', async () => {
    const list = [UNKNOWN, ...served.ids].join('\n');
    const { code, stdout, stderr } = await served.call('mirror --list - --to told --format json', list);
    const events = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; evidenceExportId?: string });
    const told = (type: string) => events.filter((event) => event.type === type);
    expect(told('exports')).toMatchObject([{ exports: 3 }]);
    expect(told('export-started')).toHaveLength(3);
    expect(
      told('export-done')
        .map(({ evidenceExportId = '' }) => evidenceExportId)
        .toSorted(),
    ).toEqual(served.ids.toSorted());
    expect(told('export-failed')).toMatchObject([{ evidenceExportId: UNKNOWN, code: 'control.NOT_FOUND' }]);
    expect(events.at(-1)).toMatchObject({ type: 'run-ended', exitCode: 3, files: 3, fetched: 3 });
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      { complete: 2, failed: 1, transfer: { fetched: 3 } },
    ]);
  });

  it('mirror --list checks the digest of each line, and a mismatch outranks an unreachable export', async () => {
    const list = `${UNKNOWN}\n${served.ids[0]} sha256:${'0'.repeat(64)}\n`;
    const { code, stdout } = await served.call('mirror --list - --to held --json', list);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { kind: 'mirror.archive', complete: 0, failed: 2 }]);
    await expect(readdir(served.path('held'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['no id', (id: string) => `${id}\n../up\n`],
    ['a digest of another form', (id: string) => `${id}\n${UNKNOWN} sha256:00\n`],
    ['a third word', (id: string) => `${id}\n${UNKNOWN} sha256:${'0'.repeat(64)} x\n`],
    ['an id twice', (id: string) => `${id}\n${id}\n`],
  ])('with %s is refused by its line before anything is fetched', async (_what, list) => {
    const { code, stderr } = await served.call('mirror --list - --to refused', list(served.ids[0]));
    expect([code, codeOf(stderr)]).toEqual([2, 'usage.INVALID']);
    expect(stderr).toContain('standard input, line 2: ');
    await expect(readdir(served.path('refused'))).rejects.toThrow('ENOENT');
  });

  it('that names nothing does not pass', async () => {
    const { code, stderr } = await served.call('mirror --list - --to nothing', '# none\n');
    expect([code, codeOf(stderr)]).toEqual([3, 'mirror.NOTHING_FOUND']);
  });
});

it('mirror --list --check names damaged and missing exports with their codes, and writes nothing', async () => {
  const [whole, harmed] = served.ids;
  await served.call('mirror --list - --to looked', served.ids.join('\n'));
  const folder = served.path(`looked/${harmed}`);
  const [part = ''] = await readdir(`${folder}/parts`);
  await writeFile(`${folder}/parts/${part}`, 'other bytes');
  const before = await readdir(served.path('looked'), { recursive: true });
  const seen = await served.call('mirror --list - --to looked --check --json', served.ids.join('\n'));
  expect([seen.code, JSON.parse(seen.stdout)]).toMatchObject([
    1,
    {
      kind: 'mirror.archive',
      complete: 1,
      mirrored: [{ evidenceExportId: whole }],
      failures: [
        {
          evidenceExportId: harmed,
          code: 'mirror.TARGET_INCOMPLETE',
          files: [{ path: `parts/${part}`, message: 'damaged' }],
        },
      ],
    },
  ]);
  expect(await readdir(served.path('looked'), { recursive: true })).toEqual(before);
  const none = await served.call('mirror --all --to unlooked --check');
  expect(none.code).toBe(1);
  expect(none.stdout).toContain('it is not in the target');
  await expect(readdir(served.path('unlooked'))).rejects.toThrow('ENOENT');
});

describe('mirror --all', () => {
  it('mirror --all copies every export of the project, also as bags', async () => {
    const { code } = await served.call('mirror --all --since 2020-01-01 --to every --bagit --store shared');
    expect(code).toBe(0);
    for (const id of served.ids)
      expect((await served.run(`verify every/${id} --trust trust.json --jobs 1`)).code).toBe(0);
  });

  it.each([
    ['1h', 0],
    ['1s', 3],
  ])('--since %s counts back from now', async (since, exit) => {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await served.call(`mirror --all --since ${since} --to since-${since}`)).code).toBe(exit);
  });

  it.each(['text', 'json'])('mirror --all reports a retry of the list of exports as %s', async (format) => {
    let lists = 0;
    const proxy = await faultProxy({
      to: served.url,
      fault: ({ url }) =>
        url.includes('evidence-exports?') && lists++ === 0
          ? ({ response }) => void response.writeHead(503).end()
          : undefined,
    });
    const line = `mirror --all --project prj_000000000001 --url ${proxy.url} --to again-${format} --format ${format}`;
    const { code, stderr } = await served.run(line);
    await proxy.close();
    expect([code, lists]).toEqual([0, 2]);
    const told = stderr.split('\n').filter((one) => one.includes('retry') || one.startsWith('again'));
    expect(told).toHaveLength(1);
    if (format === 'json') expect(JSON.parse(told[0] ?? '')).toMatchObject({ type: 'retry' });
    else expect(told[0]).toContain('the list of exports');
  });

  it('without an export that is new enough does not pass', async () => {
    const { code, stderr } = await served.call('mirror --all --since 2999-01-01 --to later');
    expect([code, codeOf(stderr)]).toEqual([3, 'mirror.NOTHING_FOUND']);
    expect(stderr).toContain('2 older ones');
    await expect(readdir(served.path('later'))).rejects.toThrow('ENOENT');
  });

  it.each([
    '',
    '--all --list list.txt',
    `${UNKNOWN} --all`,
    `${UNKNOWN} --since 2020-01-01`,
    '--all --check --queue postgres://localhost/queue',
    '--all --check --store store',
    `--all --expect-manifest ${'0'.repeat(64)}`,
  ])('or another way to say what is meant, but one: mirror %s', async (words) => {
    const { code, stderr } = await served.call(`mirror ${words} --to unsaid`.replace('  ', ' '));
    expect([code, codeOf(stderr)]).toEqual([2, 'usage.INVALID']);
  });
});

it.each([
  ['archive', 'archive/evexp_000000000099'],
  ['./archive/', 'archive/evexp_000000000099'],
  ['s3://bucket', 's3://bucket/evexp_000000000099/'],
  ['s3://bucket/a/', 's3://bucket/a/evexp_000000000099/'],
  [
    's3://bucket/a?region=eu-1&endpoint=http://h',
    's3://bucket/a/evexp_000000000099/?region=eu-1&endpoint=http://h',
  ],
])('the place of one export among many below %s is %s', (to, place) => {
  expect(placeBelow(to, UNKNOWN)).toBe(place);
});
