import { execFileSync } from 'node:child_process';
import { link, lstat, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/bytes/hash.ts';
import { planOutputs } from '../../../../src/cli/shared/output/targets.ts';
import {
  call,
  expectExit,
  expectPass,
  readFailure,
  ROLES,
  SIGNER,
  useEvidenceFolder,
  world,
} from '../../make.ts';
import { isDeep } from '../../../support/deep.ts';

const isRoot = process.getuid?.() === 0;
const dir = useEvidenceFolder(async () => {
  await expectPass(`export part-1.zip ${SIGNER} --out good`);
  await writeFile('list.txt', 'good\n');
  const base = 'schemaVersion: 1\nkind: policy\nname: base\n';
  await writeFile('base.yaml', base);
  const digest = digestOf(Buffer.from(base));
  const parent = `extends: [{ path: base.yaml, digest: '${digest}' }]\n`;
  await writeFile('policy.yaml', `schemaVersion: 1\nkind: policy\nname: child\n${parent}`);
});

const VSA = '--vsa-key key.pem --verifier-id https://ci.example/gate';

type FormatOptions = Parameters<typeof planOutputs<'text' | 'json'>>[1];
const plan = (options: FormatOptions) => planOutputs(world(), options);

const GATE = 'gate good --trust trust.json --jobs 1 --force';
const PACK = `pack run-1 --run run-1.json ${SIGNER} ${ROLES} --force --out OUT`;
/** Command lines that write OUT, each with an input that is a file. */
const WRITERS = [
  ['verify good --trust trust.json --jobs 1 --force --format json=OUT', 'trust.json'],
  [`${GATE} --format json=OUT`, 'trust.json'],
  [`${GATE} ${VSA} --vsa OUT`, 'key.pem'],
  [PACK, 'key.pem'],
  ['export part-1.zip --force --out OUT', 'part-1.zip'],
  [`dsse create part-1.zip ${SIGNER} --force --out OUT`, 'part-1.zip'],
] as const;
const ALL = [
  ...WRITERS.map(([line]) => line),
  'policy init OUT --force',
  'keys generate --public any.pub --force --out OUT',
  'keys generate --out any.key --force --public OUT',
];
const write = (line: string, out = 'out.zip') => call(line.replace('OUT', out));

beforeEach(() => rm('out.zip', { force: true }));

describe('an output that is not a regular file', () => {
  it.each(ALL)('%s refuses a link to a file, or to a missing one, and writes nothing', async (line) => {
    await writeFile('target', 'old');
    await symlink('target', 'out.zip');
    expect(await readFailure(write(line))).toEqual([2, 'io.KIND']);
    expect(await readFile('target', 'utf8')).toBe('old');
    await rm('target');
    expect(await readFailure(write(line))).toEqual([2, 'io.KIND']);
    expect((await lstat('out.zip')).isSymbolicLink()).toBe(true);
    await expect(stat('target')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(ALL)('%s writes into a device through a link, as /dev/stdout is', async (line) => {
    await symlink('/dev/null', 'out.zip');
    expect((await write(line)).code).toBeLessThan(2);
    expect((await lstat('out.zip')).isSymbolicLink()).toBe(true);
  });

  it.each(ALL)('%s writes into a FIFO, which stays a FIFO', async (line) => {
    execFileSync('mkfifo', ['out.zip']);
    const [bytes, { code }] = await Promise.all([readFile('out.zip'), write(line)]);
    expect(code).toBeLessThan(2);
    expect(bytes.length).toBeGreaterThan(0);
    expect((await lstat('out.zip')).isFIFO()).toBe(true);
  });

  if (isDeep)
    // only root creates devices
    it.each(ALL)('%s writes into a device, which stays a device', async (line) => {
      execFileSync('mknod', ['out.zip', 'c', '1', '3']); // a null device
      expect((await write(line)).code).toBeLessThan(2);
      expect((await lstat('out.zip')).isCharacterDevice()).toBe(true);
    });

  it('gate ends with 3 for a full device, and prints the decision', async () => {
    const full = isRoot ? dir.path('full') : '/dev/full'; // a broken check lets root replace the device itself
    if (isRoot) execFileSync('mknod', [full, 'c', '1', '7']);
    const { code, stdout, stderr } = await call(`${GATE} --format json=${full}`);
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^YES/)]);
    expect(stderr).toContain(`io.DISK_FULL: cannot write ${full}`);
  });
});

describe('an output that is an input of the same command', () => {
  const inputs = ['run-1/state.json', 'result-1.json', 'run-1.json'];
  it.each([...WRITERS, ...inputs.map((input) => [PACK, input] as const)])(
    '%s refuses to write to %s, and does not change it',
    async (line, input) => {
      const before = await readFile(input);
      await symlink(input, 'link.zip');
      await link(input, 'hard.zip');
      for (const out of [input, `./run-1/../${input}`, dir.path(input), 'link.zip', 'hard.zip'])
        await expectExit(line.replace('OUT', out), 2, 'usage.INVALID');
      expect(await readFile(input)).toEqual(before);
      for (const name of ['link.zip', 'hard.zip']) await rm(name);
    },
  );

  const part = 'good/parts/evidence_000000000001.zip';
  it.each([
    ['a policy', 'policy.yaml', '--policy policy.yaml'],
    ['a policy that another policy extends', 'base.yaml', '--policy policy.yaml'],
    ['a policy that an invalid policy extends', 'base.yaml', '--policy broken.yaml'],
    ['an extended policy in a wrong call', 'base.yaml', '--policy policy.yaml --ca-file any'],
    ['a path in the list in a wrong call', 'part-2.zip', '--list parts.txt --ca-file any'],
    ['a key', 'key.pub.pem', '--key key.pub.pem,issuer=acme-ci'],
    ['the list of paths', 'list.txt', '--list list.txt'],
    ['a path in the list', 'part-2.zip', '--list parts.txt'],
    ['an envelope', 'part.dsse.json', '--dsse part.dsse.json'],
    ['a file of the evidence', part, ''],
    ['another name of a file of the evidence', 'same.zip', ''],
  ])('gate refuses to write its report to %s', async (_, input, options) => {
    await writeFile('parts.txt', 'part-2.zip\n');
    await writeFile('broken.yaml', `${await readFile('policy.yaml', 'utf8')}age: [\n`);
    await expectPass(`dsse create part-1.zip ${SIGNER} --force --out part.dsse.json`);
    await rm('same.zip', { force: true });
    await link(part, 'same.zip');
    const before = await readFile(input);
    await expectExit(`${GATE} ${options} --format json=${input}`, 2, 'is read by the same command');
    expect(await readFile(input)).toEqual(before);
  });
});

describe('outputs that are checked before the work', () => {
  it('leave text on standard output if only files are named', async () => {
    expect((await plan({ format: [{ format: 'json', file: 'r.json' }] })).shown).toBe('text');
    expect((await plan({ json: true })).shown).toBe('json');
    expect((await plan({ format: [{ format: 'json' }], json: true })).shown).toBe('json');
    await expect(plan({ format: [{ format: 'text' }, { format: 'json' }] })).rejects.toMatchObject({
      code: 'usage.INVALID',
    });
  });

  it.each(['verify', 'gate'])(
    '%s refuses one file for two formats, and a place for no file',
    async (name) => {
      await mkdir('folder', { recursive: true });
      for (const format of ['json=out --format text=./out', 'json=folder', 'json=absent/out.json'])
        expect(await call(`${name} good --force --format ${format}`)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

describe('reports of an earlier run', () => {
  it.each([
    ['a policy that cannot be read', '--policy absent.yaml', 2],
    ['a wrong call', '--ca-file any', 2],
    ['an invalid trust store', '--trust base.yaml', 2],
    ['an interrupted run', '', 130],
  ])('are removed after %s', async (_, options, exit) => {
    await writeFile('out', 'stale');
    await writeFile('stale.vsa', 'stale');
    const files = `--force --format json=out ${VSA} --vsa stale.vsa`;
    const signal = exit === 130 ? AbortSignal.abort() : new AbortController().signal;
    await expectExit(`gate good --trust trust.json ${options} ${files}`, exit, '', { signal });
    for (const name of ['out', 'stale.vsa'])
      await expect(readFile(name)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('stay when --force is not given', async () => {
    await writeFile('out', 'stale');
    await expectExit('gate good --trust trust.json --format json=out', 2, 'io.EXISTS');
    expect(await readFile('out', 'utf8')).toBe('stale');
  });
});
