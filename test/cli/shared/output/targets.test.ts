import { execFileSync } from 'node:child_process';
import { link, lstat, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/bytes/index.ts';
import { planOutputs } from '../../../../src/cli/shared/output/targets.ts';
import { call, expectPass, ROLES, SIGNER, type CliResult, useEvidenceFolder, world } from '../../make.ts';

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

const gate = (options: string): Promise<CliResult> =>
  call(`gate good --trust trust.json --jobs 1 ${options}`);
const verify = (options: string): Promise<CliResult> =>
  call(`verify good --trust trust.json --jobs 1 ${options}`);
const VSA = '--vsa-key key.pem --verifier-id https://ci.example/gate';

type FormatOptions = Parameters<typeof planOutputs<'text' | 'json'>>[1];
const plan = (options: FormatOptions) => planOutputs(world(), options);

/** Each option that writes a file, with an input of the command that is a file. */
const WRITERS: readonly (readonly [string, string, (out: string) => Promise<CliResult>])[] = [
  ['verify --format', 'trust.json', (out) => verify(`--force --format json=${out}`)],
  ['gate --format', 'trust.json', (out) => gate(`--force --format json=${out}`)],
  ['gate --vsa', 'key.pem', (out) => gate(`--force ${VSA} --vsa ${out}`)],
  ['pack --out', 'key.pem', (out) => call(`${PACK} --force --out ${out}`)],
  ['export --out', 'part-1.zip', (out) => call(`export part-1.zip --force --out ${out}`)],
  ['dsse create --out', 'part-1.zip', (out) => call(`dsse create part-1.zip ${SIGNER} --force --out ${out}`)],
];
const PACK = `pack run-1 --run run-1.json ${SIGNER} ${ROLES}`;
/** The options of commands without an input that is a file. */
const MAKERS: readonly (readonly [string, (out: string) => Promise<CliResult>])[] = [
  ['policy init', (out) => call(`policy init ${out} --force`)],
  ['keys generate --out', (out) => call(`keys generate --public any.pub --force --out ${out}`)],
  ['keys generate --public', (out) => call(`keys generate --out any.key --force --public ${out}`)],
];
const ALL = [...WRITERS.map(([name, , write]) => [name, write] as const), ...MAKERS];
/** The name of an output: `export` writes a folder unless it ends with .zip. */
const outFor = (name: string): string => (name.startsWith('export') ? 'out.zip' : 'out');

beforeEach(() => rm('out', { force: true }).then(() => rm('out.zip', { force: true })));

describe('an output that is not a regular file', () => {
  it.each(ALL)('%s writes through a link to a file, which stays a link', async (name, write) => {
    const out = outFor(name);
    await writeFile('target', 'old');
    await symlink('target', out);
    expect((await write(out)).code).toBeLessThan(2);
    expect((await lstat(out)).isSymbolicLink()).toBe(true);
    expect((await readFile('target')).length).toBeGreaterThan(3);
    await rm('target');
  });

  it.each(ALL)('%s creates the missing file that a link names', async (name, write) => {
    const out = outFor(name);
    await symlink('created', out);
    expect((await write(out)).code).toBeLessThan(2);
    expect((await lstat(out)).isSymbolicLink()).toBe(true);
    expect((await stat('created')).size).toBeGreaterThan(0);
    await rm('created');
  });

  it.each(ALL)('%s writes into a FIFO, which stays a FIFO', async (name, write) => {
    const out = outFor(name);
    execFileSync('mkfifo', [out]);
    const [bytes, { code }] = await Promise.all([readFile(out), write(out)]);
    expect(code).toBeLessThan(2);
    expect(bytes.length).toBeGreaterThan(0);
    expect((await lstat(out)).isFIFO()).toBe(true);
  });

  it.runIf(isRoot).each(ALL)('%s writes into a device, which stays a device', async (name, write) => {
    const out = outFor(name);
    execFileSync('mknod', [out, 'c', '1', '3']); // a null device
    expect((await write(out)).code).toBeLessThan(2);
    expect((await lstat(out)).isCharacterDevice()).toBe(true);
  });

  it('gate ends with 3 for a full device, and prints the decision', async () => {
    const full = isRoot ? dir.path('full') : '/dev/full'; // a broken check lets root replace the device itself
    if (isRoot) execFileSync('mknod', [full, 'c', '1', '7']);
    const { code, stdout, stderr } = await gate(`--force --format json=${full}`);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^YES/);
    expect(stderr).toContain(`io.DISK_FULL: cannot write ${full}`);
  });
});

describe('an output that is an input of the same command', () => {
  it.each(WRITERS)('%s refuses it, and does not change it', async (name, input, write) => {
    const before = await readFile(input);
    const suffix = name.startsWith('export') ? '.zip' : '';
    await symlink(input, `link${suffix}`);
    await link(input, `hard${suffix}`);
    for (const out of [input, `./run-1/../${input}`, dir.path(input), `link${suffix}`, `hard${suffix}`]) {
      const { code, stderr } = await write(out);
      expect([code, stderr]).toEqual([2, expect.stringContaining('usage.INVALID') as string]);
    }
    expect(await readFile(input)).toEqual(before);
    await rm(`link${suffix}`);
    await rm(`hard${suffix}`);
  });

  const part = 'good/parts/evidence_000000000001.zip';
  it.each([
    ['a policy', 'policy.yaml', '--policy policy.yaml'],
    ['a policy that another policy extends', 'base.yaml', '--policy policy.yaml'],
    ['a policy that an invalid policy extends', 'base.yaml', '--policy broken.yaml'],
    ['an extended policy in a wrong call', 'base.yaml', '--policy policy.yaml --project any'],
    ['a path in the list in a wrong call', 'part-2.zip', '--list parts.txt --project any'],
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
    const { code, stderr } = await gate(`${options} --force --format json=${input}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is read by the same command') as string]);
    expect(await readFile(input)).toEqual(before);
  });

  it.each(['run-1/state.json', 'result-1.json', 'run-1.json'])(
    'pack refuses to write to its input %s',
    async (out) => {
      expect((await call(`${PACK} --force --out ${out}`)).code).toBe(2);
    },
  );
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

  it.each([
    ['verify', verify],
    ['gate', gate],
  ])('%s refuses one file for two formats, a folder, and a file in a missing folder', async (_, write) => {
    await mkdir('folder', { recursive: true });
    expect((await write('--format json=out --format text=./out')).code).toBe(2);
    for (const out of ['folder', 'absent/out.json'])
      expect(await write(`--force --format json=${out}`)).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('reports of an earlier run', () => {
  it.each([
    ['a policy that cannot be read', '--policy absent.yaml', 2],
    ['a wrong call', '--project prj_000000000001', 2],
    ['an invalid trust store', '--trust base.yaml', 2],
    ['an interrupted run', '', 130],
  ])('are removed after %s', async (_, options, exit) => {
    await writeFile('target', 'stale');
    await symlink('target', 'stale-link');
    await writeFile('out', 'stale');
    await writeFile('stale.vsa', 'stale');
    const files = `--force --format json=out --format text=stale-link ${VSA} --vsa stale.vsa`;
    const signal = exit === 130 ? AbortSignal.abort() : new AbortController().signal;
    const { code } = await call(`gate good --trust trust.json ${options} ${files}`, { signal });
    expect(code).toBe(exit);
    for (const name of ['out', 'stale.vsa'])
      await expect(readFile(name)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile('target', 'utf8')).toBe('');
    await rm('stale-link');
  });

  it('stay when --force is not given', async () => {
    await writeFile('out', 'stale');
    expect((await gate('--format json=out')).code).toBe(2);
    expect(await readFile('out', 'utf8')).toBe('stale');
  });
});
