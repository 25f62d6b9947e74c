import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { joinPlace } from '../../../src/cli/mirror/many.ts';
import { faultProxy } from '../../faults/proxy.ts';

import { expectResult, parseLines } from '../make.ts';
import { servedExports } from './served-exports.ts';

const served = await servedExports();
afterAll(() => served[Symbol.asyncDispose]());

const UNKNOWN = 'evexp_000000000099';

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
    expect((await readdir(served.path('some'))).toSorted()).toEqual([
      ...served.ids.toSorted(),
      'inventory.jsonl',
    ]);
  });

  it('mirror --list writes events for each export, and a total', async () => {
    const list = [UNKNOWN, ...served.ids].join('\n');
    const { code, stdout, stderr } = await served.call('mirror --list - --to events --format json', list);
    const events: { type: string; evidenceExportId?: string }[] = parseLines(stderr);
    const eventsOf = (type: string) => events.filter((event) => event.type === type);
    const idsOf = (type: string) => eventsOf(type).map(({ evidenceExportId }) => evidenceExportId);
    expect(eventsOf('exports')).toMatchObject([{ exports: 3 }]);
    expect(new Set(idsOf('export-started'))).toEqual(new Set([UNKNOWN, ...served.ids]));
    expect(new Set(idsOf('export-done'))).toEqual(new Set(served.ids));
    const failed = { evidenceExportId: UNKNOWN, code: 'control.NOT_FOUND' };
    expect(eventsOf('export-failed')).toMatchObject([failed]);
    expect(events.at(-1)).toMatchObject({ type: 'run-ended', exitCode: 3, files: 3, fetched: 3 });
    const archive = { complete: 2, failed: 1, transfer: { fetched: 3 } };
    expect([code, JSON.parse(stdout)]).toMatchObject([3, archive]);
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
  ])('mirror --list refuses a list with %s, names the line, and fetches nothing', async (_what, list) => {
    const result = served.call('mirror --list - --to refused', list(served.ids[0]));
    await expectResult(result, 2, 'usage.INVALID: standard input, line 2: ');
    await expect(readdir(served.path('refused'))).rejects.toThrow('ENOENT');
  });

  it('mirror --list ends with 3 for an empty list', async () => {
    await expectResult(served.call('mirror --list - --to nothing', '# none\n'), 3, 'mirror.NOTHING_FOUND');
  });
});

it('mirror --list --check names damaged and missing exports with their codes, and writes nothing', async () => {
  const [intact, damaged] = served.ids;
  await served.call('mirror --list - --to checked', served.ids.join('\n'));
  const folder = served.path(`checked/${damaged}`);
  const [part = ''] = await readdir(`${folder}/parts`);
  await writeFile(`${folder}/parts/${part}`, 'other bytes');
  const before = await readdir(served.path('checked'), { recursive: true });
  const result = await served.call('mirror --list - --to checked --check --json', served.ids.join('\n'));
  const failure = {
    evidenceExportId: damaged,
    code: 'mirror.TARGET_INCOMPLETE',
    files: [{ path: `parts/${part}`, message: 'damaged' }],
  };
  const archive = { kind: 'mirror.archive', complete: 1, mirrored: [{ evidenceExportId: intact }] };
  expect(JSON.parse(result.stdout)).toMatchObject({ ...archive, failures: [failure] });
  expect(result.code).toBe(1);
  expect(await readdir(served.path('checked'), { recursive: true })).toEqual(before);
  await expectResult(served.call('mirror --all --to unchecked --check'), 1, 'it is not in the target');
  await expect(readdir(served.path('unchecked'))).rejects.toThrow('ENOENT');
});

const readReport = async (line: string) => JSON.parse((await served.call(`${line} --json`)).stdout);

describe('mirror --all', () => {
  it('mirror --all copies every export of the project, also as bags', async () => {
    await expectResult(served.call('mirror --all --since 2020-01-01 --to every --bagit --store shared'), 0);
    for (const id of served.ids)
      expect((await served.run(`verify every/${id} --trust trust.json --jobs 1`)).code).toBe(0);
  });

  it('mirror --all reads held mirrors again that changed since a time or a duration before now', async () => {
    await served.call('mirror --all --to since');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const line = 'mirror --all --to since';
    expect(await readReport(`${line} --since 1970-01-02`)).toMatchObject({ complete: 2, kept: 0 });
    expect(await readReport(`${line} --since 1h`)).toMatchObject({ complete: 1, kept: 1 });
    expect(await readReport(`${line} --since 1s`)).toMatchObject({ complete: 0, kept: 2 });
  });

  it.each(['', ' --bagit'])('mirror --all%s fetches every export that the archive lacks', async (form) => {
    const to = `late${form.length}`;
    const line = `mirror --all --to ${to}${form}`;
    expect(await readReport(line)).toMatchObject({ complete: 2, kept: 0 });
    const manifest = served.path(`${to}/${served.ids[1]}/${form === '' ? '' : 'data/'}manifest.json`);
    const bytes = await readFile(manifest);
    await rm(manifest); // an interrupted mirror has no manifest
    expect(await readReport(line)).toMatchObject({
      complete: 1,
      mirrored: [{ evidenceExportId: served.ids[1] }],
      kept: 1,
    });
    expect((await readFile(manifest)).equals(bytes)).toBe(true);
    await rm(served.path(`${to}/${served.ids[0]}`), { recursive: true });
    expect(await readReport(line)).toMatchObject({
      complete: 1,
      mirrored: [{ evidenceExportId: served.ids[0] }],
      kept: 1,
    });
    expect(await readReport(line)).toMatchObject({ exports: 0, kept: 2 });
  });

  it('mirror --all reads a mirror that the inventory does not name, and adds it', async () => {
    const line = 'mirror --all --to unlisted';
    await served.call(line);
    const receipts = () => readdir(served.path(`unlisted/${served.ids[0]}/receipts`));
    const before = await receipts();
    await rm(served.path('unlisted/inventory.jsonl'));
    expect(await readReport(line)).toMatchObject({ complete: 2, transfer: { fetched: 0, kept: 3 } });
    expect(await readReport(line)).toMatchObject({ complete: 0, kept: 2 });
    expect(await receipts()).toEqual(before); // nothing changed, so there is no new receipt
  });

  it('mirror --all writes nothing with a damaged inventory', async () => {
    const line = 'mirror --all --to torn';
    await served.call(line);
    const inventory = served.path('torn/inventory.jsonl');
    const bytes = await readFile(inventory, 'utf8');
    await writeFile(inventory, bytes.replace('"held"', '"kept"'));
    await expectResult(served.call(line), 1, 'inventory.DAMAGED');
    await writeFile(inventory, `${bytes}{"atMs":1`); // a process died while it wrote a line
    await rm(served.path(`torn/${served.ids[0]}`), { recursive: true });
    expect(await readReport(line)).toMatchObject({ complete: 1, kept: 1 });
    expect((await readFile(inventory, 'utf8')).split('\n')).toHaveLength(3);
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
    const lines = stderr.split('\n').filter((text) => text.includes('retry') || text.startsWith('again'));
    expect(lines).toHaveLength(1);
    if (format === 'json') expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'retry' });
    else expect(lines[0]).toContain('the list of exports');
  });

  it('mirror --all ends with 0 after one request and no write, if every export is mirrored', async () => {
    await served.call('mirror --all --to later');
    const before = await readdir(served.path('later'), { recursive: true });
    const urls: string[] = [];
    const proxy = await faultProxy({ to: served.url, fault: ({ url }) => void urls.push(url) });
    const line = `mirror --all --to later --project prj_000000000001 --url ${proxy.url}`;
    const { code, stdout } = await served.run(line);
    await proxy.close();
    expect([code, urls.length]).toEqual([0, 1]);
    expect(stdout).toContain('kept     2 exports that the inventory names, not read');
    expect(await readdir(served.path('later'), { recursive: true })).toEqual(before);
  });

  it.each([
    '',
    '--all --list list.txt',
    `${UNKNOWN} --all`,
    `${UNKNOWN} --since 2020-01-01`,
    '--all --check --queue postgres://localhost/queue',
    '--all --check --store store',
    `--all --expect-manifest ${'0'.repeat(64)}`,
  ])('mirror refuses the options "%s", and needs exactly one of an id, --list and --all', async (words) => {
    await expectResult(served.call(`mirror ${words} --to refused`), 2, 'usage.INVALID');
  });
});

it.each([
  ['archive', 'archive/evexp_000000000099'],
  ['./archive/', 'archive/evexp_000000000099'],
  ['s3://bucket', 's3://bucket/evexp_000000000099/'],
  ['s3://bucket/a/', 's3://bucket/a/evexp_000000000099/'],
  ['s3://bucket/a?region=eu-1', 's3://bucket/a/evexp_000000000099/?region=eu-1'],
])('the place of an export below %s is %s', (to, place) => {
  expect(joinPlace(to, UNKNOWN)).toBe(place);
});
