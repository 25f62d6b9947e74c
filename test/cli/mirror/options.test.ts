import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { mirrorDirectory } from '../../../src/node/volume/mirror.ts';
import { answerAt, exportRef, makeExport, type Fault } from '../../faults/export-source.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import { faultServer, json } from '../../faults/server.ts';
import { cleanUp, source } from '../../mirror/make.ts';
import { expectResult } from '../make.ts';
import { servedExports } from './served-exports.ts';

const VALIDATOR = join(import.meta.dirname, '../../mirror/bagit-check.py');

const served = await servedExports();
const [id] = served.ids;
afterEach(cleanUp);
afterAll(() => served[Symbol.asyncDispose]());

const mirror = (words: string) => served.call(`mirror ${id} ${words}`);

it('mirror --bagit makes a bag that a validator of RFC 8493, sha256sum and verify accept', async () => {
  const { code, stdout, stderr } = await mirror('--to bag --bagit');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('(cd bag && sha256sum -c manifest-sha256.txt)');
  execFileSync('sha256sum', ['--quiet', '-c', 'manifest-sha256.txt'], { cwd: served.path('bag') });
  expect(execFileSync('python3', [VALIDATOR, served.path('bag')], { encoding: 'utf8' })).toBe('valid\n');
  const verified = await served.run('verify bag --trust trust.json --jobs 1');
  expect([verified.code, verified.stdout.split(' ')[0]]).toEqual([0, 'VERIFIED']);
});

/** Reads the elements of bag-info.txt by RFC 8493 §2.2.2. */
const readInfo = (bag: string): readonly (readonly string[])[] =>
  readFileSync(join(served.path(bag), 'bag-info.txt'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => /^([^:]+): (.+)$/.exec(line)!.slice(1));

it('mirror --bag-info adds fields to the bag, which stay the same in later runs', async () => {
  const withInfo = (...fields: string[]) =>
    served.run([
      ...`mirror ${id} --project prj_000000000001 --url ${served.url} --to fields --bagit`.split(' '),
      ...fields.flatMap((field) => ['--bag-info', field]),
    ]);
  const fields = ['Source-Organization=Acme = Co', 'Bagging-Date=2026-11-28'];
  expect((await withInfo(...fields)).code).toBe(0);
  const info = readInfo('fields');
  expect(info.map(([label]) => label)).toEqual([
    'Bag-Software-Agent',
    'External-Identifier',
    'Payload-Oxum',
    'Source-Organization',
    'Bagging-Date',
  ]);
  expect(info.slice(3).map((field) => field.join('='))).toEqual(fields);
  expect(execFileSync('python3', [VALIDATOR, served.path('fields')], { encoding: 'utf8' })).toBe('valid\n');
  expect((await served.run('verify fields --trust trust.json --jobs 1')).code).toBe(0);
  expect((await withInfo(...fields)).code).toBe(0);
  await expectResult(withInfo(), 2, 'mirror.BAG_INFO_DIFFERS');
  expect(readInfo('fields')).toEqual(info);
});

it.each([
  'Contact-Name',
  'Contact-Name=',
  '=Ana',
  'Contact Name=Ana',
  'Contact:Name=Ana',
  'Contact-Name= Ana',
  'Contact-Name=Ana ',
  'Contact-Name=Ana\n Ruiz',
  'Contact-Name=Ana\rPayload-Oxum: 1.1',
  'Contact-Name=Ana\u001b[2J',
  'Contact-Name=Ana\u202e',
  'Contact-Name=Ana\u2028Ruiz',
  `Contact-Name=${'x'.repeat(1001)}`,
  `${'x'.repeat(65)}=Ana`,
  'Payload-Oxum=1.1',
  'payload-oxum=1.1',
  'External-Identifier=x',
  'Bag-Software-Agent=x',
  'Bagging-Date=yesterday',
  'Bagging-Date=2026-02-30',
])('mirror refuses --bag-info %j', async (field) => {
  const line = `mirror ${id} --project prj_000000000001 --url ${served.url} --to refused --bagit`.split(' ');
  await expectResult(served.run([...line, '--bag-info', field]), 2, 'usage.INVALID');
  await expect(readdir(served.path('refused'))).rejects.toThrow('ENOENT');
});

it.each([
  ['without --bagit', '--bag-info A=b'],
  ['with --check', '--bagit --check --bag-info A=b'],
  ['with two dates', '--bagit --bag-info Bagging-Date=2026-01-01 --bag-info bagging-date=2026-01-02'],
  ['more than 64 times', `--bagit ${'--bag-info A=b '.repeat(65).trim()}`],
])('mirror refuses --bag-info %s', async (_, words) => {
  await expectResult(mirror(`--to refused ${words}`), 2, 'usage.INVALID');
});

describe('mirror --check', () => {
  it.each(['', ' --bagit'])(
    'mirror --check of a complete mirror%s ends with 0 and adds no receipt',
    async (form) => {
      const to = `--to whole${form.length}${form}`;
      await mirror(to);
      const before = await readdir(served.path(`whole${form.length}`), { recursive: true });
      const { code, stdout } = await mirror(`${to} --check --json`);
      const check = { kind: 'mirror.check', outcome: 'complete', faults: [] };
      expect([code, JSON.parse(stdout)]).toMatchObject([0, check]);
      expect(await readdir(served.path(`whole${form.length}`), { recursive: true })).toEqual(before);
    },
  );

  it('mirror --check of an unknown export ends with 3', async () => {
    const { code } = await served.call('mirror evexp_000000000099 --to absent --check');
    expect(code).toBe(3);
  });

  it.each(['--store store', '--wait-lock', '--s3-legal-hold'])(
    'mirror --check refuses %s, which writes',
    async (option) => {
      await expectResult(mirror(`--to absent --check ${option}`), 2, 'usage.INVALID');
      await expect(readdir(served.path('store'))).rejects.toThrow('ENOENT');
    },
  );
});

describe('mirror of a server that lies ends with 3 and advises no option', () => {
  const sample = makeExport();
  const bad = Buffer.from(Buffer.from(sample.manifest).toString().replace('parts/', 'parts/../'));
  const pin = { manifestDigest: digestOf(bad), manifestBytes: String(bad.length) };
  const line = `--to lied --project ${exportRef.projectId}`;

  it.each([
    ['with an endless answer', exportRef.evidenceExportId, 'transport.BODY_TOO_LONG'],
    ['with an endless list', '--all', 'client.PAGES_EXCEEDED'],
  ])('%s', async (_, selection, code) => {
    const server = await faultServer((__, response, n) =>
      selection === '--all'
        ? json(response, 200, { items: [], nextCursor: String(n % 2) })
        : void response.end(`{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`),
    );
    const text = await expectResult(served.run(`mirror ${selection} ${line} --url ${server.url}`), 3, code);
    expect(text).not.toContain('option');
    await server.close();
  });

  it('with a manifest that leads out of the mirror', async () => {
    const server = await source({ ...sample, manifest: bad, resource: { ...sample.resource, ...pin } });
    const text = await expectResult(
      served.run(`mirror ${exportRef.evidenceExportId} ${line} --url ${server.url}`),
      3,
      'mirror.SOURCE_INVALID',
    );
    expect(text).not.toContain('option');
    await expect(readdir(served.path('lied'))).rejects.toThrow('ENOENT');
  });
});

const write = (file: string): Promise<void> => writeFile(file, 'x');
const link = (file: string): Promise<void> => symlink('../manifest.json', file);
const pipe = async (file: string): Promise<void> => void execFileSync('mkfifo', [file]);

describe('a file too many in a mirror', () => {
  it.each([
    ['parts/evidence_000000000099.zip', 'part.EXTRA', write],
    ['parts/folder/evidence_000000000099.zip', 'part.EXTRA', write],
    ['parts/empty', 'part.EXTRA', mkdir],
    ['parts/link', 'export.FILE_IRREGULAR', link],
    ['local-reports/lrep_99.zip', 'local-report.EXTRA', write],
    ['local-reports', 'export.FILE_UNCOVERED', write],
    ['receipts/evil.json', 'export.FILE_UNCOVERED', write],
    ['note.txt', 'export.FILE_UNCOVERED', write],
    ['.drillproof-mirror/evil.zip', 'export.FILE_UNCOVERED', write],
    ['fifo', 'export.FILE_IRREGULAR', pipe],
    ['receipts/20260101T000000.000Z-000000000000.json', 'export.FILE_IRREGULAR', pipe],
  ])(
    '%s fails verify, scrub, mirror and mirror --check with %s, and is not removed',
    async (path, code, make) => {
      for (const form of ['', '--bagit']) {
        const to = `extra-${path.replaceAll('/', '-')}${form}`;
        expect((await mirror(`--to ${to} ${form}`)).code).toBe(0);
        const file = served.path(join(to, form === '' ? '' : 'data', path));
        const folders = await mkdir(dirname(file), { recursive: true });
        await make(file);
        await expectResult(served.run(`verify ${to} --trust trust.json --jobs 1`), 1, code);
        await expectResult(served.run(`scrub ${to}`), 1, code);
        const text = await expectResult(mirror(`--to ${to} ${form}`), 1, 'mirror.TARGET_EXTRA');
        expect(text).toContain(code);
        const { code: exit, stdout } = await mirror(`--to ${to} ${form} --check --json`);
        expect([exit, JSON.parse(stdout)]).toMatchObject([1, { faults: [{ path, found: 'extra', code }] }]);
        await rm(folders ?? file, { recursive: true });
        await expectResult(mirror(`--to ${to} ${form}`), 0);
      }
    },
  );

  it.each([
    ['parts', 'file', write, 'export.FILE_UNCOVERED'],
    ['parts', 'link', link, 'export.FILE_IRREGULAR'],
    ['local-reports', 'file', write, 'export.FILE_UNCOVERED'],
  ])(
    'in place of the folder %s, a %s, fails verify, scrub, mirror and mirror --check with 1, and stays as it is',
    async (name, kind, make, code) => {
      const to = `place-${name}-${kind}`;
      await mirror(`--to ${to}`);
      const place = served.path(join(to, name));
      await rm(place, { recursive: true, force: true });
      await make(place);
      const before = await lstat(place);
      await expectResult(served.run(`verify ${to} --trust trust.json --jobs 1`), 1, code);
      await expectResult(served.run(`scrub ${to}`), 1, code);
      expect(await expectResult(mirror(`--to ${to}`), 1, 'mirror.TARGET_EXTRA')).toContain(code);
      await expectResult(mirror(`--to ${to} --check`), 1, code);
      const { ino, size, mtimeMs } = await lstat(place);
      expect([ino, size, mtimeMs]).toEqual([before.ino, before.size, before.mtimeMs]);
    },
  );

  it('is not the lock of another run or a journal of scrubs', async () => {
    await mirror('--to busy');
    for (const path of ['.drillproof-mirror/partial', '.drillproof-mirror/lease', '.drillproof/scrub'])
      await mkdir(served.path(`busy/${path}`), { recursive: true });
    await writeFile(served.path('busy/.drillproof-mirror/lock'), '{}');
    await writeFile(served.path('busy/.drillproof/scrub/bucket.jsonl'), '');
    await expectResult(served.run('verify busy --trust trust.json --jobs 1'), 0);
    await expectResult(served.run('scrub busy'), 0);
    await expectResult(mirror('--to busy --check'), 0);
  });

  it('fails mirror --all and mirror --all --check for its export only, after what is missing was fetched', async () => {
    await served.call('mirror --all --to many');
    const folder = served.path(`many/${id}/parts`);
    await writeFile(join(folder, 'x.zip'), 'x');
    await expectResult(served.call('mirror --all --to many --check'), 1, 'mirror.TARGET_EXTRA');
    const [part = ''] = await readdir(folder);
    await rm(join(folder, part));
    await expectResult(served.call('mirror --all --since 1970-01-02 --to many'), 1, 'mirror.TARGET_EXTRA');
    expect(await readdir(folder)).toContain(part);
  });
});

it('mirror --store links the files of another mirror, and fetches nothing', async () => {
  await mirror('--to first --store parts-store');
  const { code, stdout } = await mirror('--to other --store parts-store --json');
  const { files }: { files: { path: string; state: string }[] } = JSON.parse(stdout);
  const parts = files.filter(({ path }) => path.startsWith('parts/'));
  expect([code, parts.map(({ state }) => state)]).toEqual([0, ['linked', 'linked']]);
  expect((await served.run('verify other --trust trust.json --jobs 1')).code).toBe(0);
});

it.each([
  ['s3://archive/store', 'usage.INVALID'],
  ['unstored', 'usage.INVALID'],
  ['./unstored/store', 'usage.INVALID'],
  ['token', 'io.KIND'],
])('mirror --store refuses %s', async (store, error) => {
  await writeFile(served.path('token'), 'a file');
  await expectResult(mirror(`--to unstored --store ${store}`), 2, error);
  await expect(readdir(served.path('unstored'))).rejects.toThrow('ENOENT');
});

it('mirror --store is refused for a mirror in S3', async () => {
  await expectResult(mirror('--to s3://archive/mirror --store parts-store'), 2, 'usage.INVALID');
});

it('mirror --limit-rate copies the same bytes', async () => {
  expect((await mirror('--to limited --limit-rate 10M')).code).toBe(0);
  expect((await served.run('verify limited --trust trust.json --jobs 1')).code).toBe(0);
});

it.each(['0', '-1', '1.5M', '10MB', '10m', '9999999999G', 'k'])(
  'mirror --limit-rate refuses %s',
  async (value) => {
    await expectResult(mirror(`--to unlimited --limit-rate=${value}`), 2, 'usage.INVALID');
  },
);

const waiting = (url: string, words: string) =>
  served.run(`mirror ${exportRef.evidenceExportId} --project ${exportRef.projectId} --url ${url} ${words}`);

describe('mirror --wait', () => {
  const testExport = makeExport();
  const { manifestDigest: _digest, manifestBytes: _bytes, ...unfinished } = testExport.resource;
  const resource = { ...unfinished, state: 'generating' };
  const generating = (looks: number): Fault =>
    answerAt('export.json', ({ response }) => json(response, 200, resource), looks);
  it('mirror --wait copies an export once it is generated, and reports that it waits', async () => {
    const server = await source(testExport, generating(1));
    const { code, stderr } = await waiting(server.url, '--to awaited --wait 1w');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^generating, .*; looking again in 1 s\n$/);
  });

  it.each(['10', '53w', '366d', '-1s', '1.5h'])(
    'mirror --wait and --wait-lock refuse the duration %s',
    async (value) => {
      for (const option of ['--wait', '--wait-lock']) {
        await expectResult(mirror(`--to unmade ${option}=${value}`), 2, 'usage.INVALID');
      }
    },
  );
});

it('mirror --wait-lock continues when the lock is released, and without it the lock is reported', async () => {
  const target = await mirrorDirectory(served.path('held')).open();
  await expectResult(mirror('--to held'), 3, 'io.LOCKED');
  expect((await mirror('--to held --wait-lock 1s')).code).toBe(3);
  const work = mirror('--to held --wait-lock');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await target.close();
  expect((await work).code).toBe(0);
});
