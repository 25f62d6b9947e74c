import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { link, lstat, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { planOutputs } from '../../../../src/cli/shared/output/targets.ts';
import { call, type CliResult, useEvidenceFolder, world } from '../../make.ts';

const isRoot = process.getuid?.() === 0;
const SIGNER = ['--key', 'key.pem', '--issuer', 'acme-ci'];
const ROLES = ['journal.jsonl=evidence', 'state.json=state', 'trace.json=trajectory'];

const dir = useEvidenceFolder(async () => {
  await call(['export', 'part-1.zip', ...SIGNER, '--out', 'good']);
  await writeFile('list.txt', 'good\n');
  await writeFile('base.yaml', 'schemaVersion: 1\nkind: policy\nname: base\n');
  const digest = `sha256:${createHash('sha256')
    .update(await readFile('base.yaml'))
    .digest('hex')}`;
  const parent = `extends: [{ path: base.yaml, digest: '${digest}' }]\n`;
  await writeFile('policy.yaml', `schemaVersion: 1\nkind: policy\nname: child\n${parent}`);
});

const gate = (...args: readonly string[]): Promise<CliResult> =>
  call(['gate', 'good', '--trust', 'trust.json', '--jobs', '1', ...args]);
const verify = (...args: readonly string[]): Promise<CliResult> =>
  call(['verify', 'good', '--trust', 'trust.json', '--jobs', '1', ...args]);
const vsa = ['--vsa-key', 'key.pem', '--verifier-id', 'https://ci.example/gate'];

type Planned = Parameters<typeof planOutputs<'text' | 'json'>>[1];
const plan = (options: Planned) => planOutputs(world(), options);

/** Every command that writes a file, with an input of it that is a file. */
const WRITERS: readonly (readonly [string, string, (out: string) => Promise<CliResult>])[] = [
  ['verify --format', 'trust.json', (out) => verify('--force', '--format', `json=${out}`)],
  ['gate --format', 'trust.json', (out) => gate('--force', '--format', `json=${out}`)],
  ['gate --vsa', 'key.pem', (out) => gate('--force', ...vsa, '--vsa', out)],
  [
    'pack --out',
    'key.pem',
    (out) => {
      const roles = ROLES.flatMap((role) => ['--role', role]);
      return call(['pack', 'run-1', '--run', 'run-1.json', ...SIGNER, ...roles, '--force', '--out', out]);
    },
  ],
  ['export --out', 'part-1.zip', (out) => call(['export', 'part-1.zip', '--force', '--out', out])],
  [
    'dsse create --out',
    'part-1.zip',
    (out) => call(['dsse', 'create', 'part-1.zip', ...SIGNER, '--force', '--out', out]),
  ],
];
/** Those without an input that is a file. */
const MAKERS: readonly (readonly [string, (out: string) => Promise<CliResult>])[] = [
  ['policy init', (out) => call(['policy', 'init', out, '--force'])],
  [
    'keys generate --out',
    (out) => call(['keys', 'generate', '--public', 'any.pub', '--force', '--out', out]),
  ],
  [
    'keys generate --public',
    (out) => call(['keys', 'generate', '--out', 'any.key', '--force', '--public', out]),
  ],
];
const ALL = [...WRITERS.map(([name, , write]) => [name, write] as const), ...MAKERS];
/** `export` and `keys` name the form of what they write by the end of the name. */
const outFor = (name: string): string => (name.startsWith('export') ? 'out.zip' : 'out');

beforeEach(() => rm('out', { force: true }).then(() => rm('out.zip', { force: true })));

describe('an output that is not a regular file', () => {
  it.each(ALL)('%s writes through a link to a file, which stays a link', async (name, write) => {
    const out = outFor(name);
    await writeFile('behind', 'old');
    await symlink('behind', out);
    expect((await write(out)).code).toBeLessThan(2);
    expect((await lstat(out)).isSymbolicLink()).toBe(true);
    expect((await readFile('behind')).length).toBeGreaterThan(3);
    await rm('behind');
  });

  it.each(ALL)('%s makes the file that a link names', async (name, write) => {
    const out = outFor(name);
    await symlink('made', out);
    expect((await write(out)).code).toBeLessThan(2);
    expect((await lstat(out)).isSymbolicLink()).toBe(true);
    expect((await stat('made')).size).toBeGreaterThan(0);
    await rm('made');
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
    execFileSync('mknod', [out, 'c', '1', '3']); // another node of the null device
    expect((await write(out)).code).toBeLessThan(2);
    expect((await lstat(out)).isCharacterDevice()).toBe(true);
  });

  it('ends with 3 for a device that is full, and the decision is printed', async () => {
    const full = isRoot ? dir.path('full') : '/dev/full'; // a broken check lets root replace the device itself
    if (isRoot) execFileSync('mknod', [full, 'c', '1', '7']);
    const { code, stdout, stderr } = await gate('--force', '--format', `json=${full}`);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^YES/);
    expect(stderr).toContain(`io.DISK_FULL: cannot write ${full}`);
  });
});

describe('an output that is an input of the same command', () => {
  it.each(WRITERS)('%s refuses it, and leaves it as it was', async (name, input, write) => {
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
  it.each<readonly [string, string, readonly string[]]>([
    ['a policy', 'policy.yaml', ['--policy', 'policy.yaml']],
    ['a policy that another one extends', 'base.yaml', ['--policy', 'policy.yaml']],
    ['a policy that a broken one extends', 'base.yaml', ['--policy', 'broken.yaml']],
    ['an extended policy in a wrong call', 'base.yaml', ['--policy', 'policy.yaml', '--project', 'any']],
    ['a path in the list in a wrong call', 'part-2.zip', ['--list', 'parts.txt', '--project', 'any']],
    ['a key', 'key.pub.pem', ['--key', 'key.pub.pem,issuer=acme-ci']],
    ['the list of paths', 'list.txt', ['--list', 'list.txt']],
    ['a path in the list', 'part-2.zip', ['--list', 'parts.txt']],
    ['an envelope', 'part.dsse.json', ['--dsse', 'part.dsse.json']],
    ['a file of the evidence', part, []],
    ['another name of a file of the evidence', 'same.zip', []],
  ])('%s is refused as a report of gate', async (_, input, args) => {
    await writeFile('parts.txt', 'part-2.zip\n');
    await writeFile('broken.yaml', `${await readFile('policy.yaml', 'utf8')}age: [\n`);
    await call(['dsse', 'create', 'part-1.zip', ...SIGNER, '--force', '--out', 'part.dsse.json']);
    await rm('same.zip', { force: true });
    await link(part, 'same.zip');
    const before = await readFile(input);
    const { code, stderr } = await gate(...args, '--force', '--format', `json=${input}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is read by the same command') as string]);
    expect(await readFile(input)).toEqual(before);
  });

  it('is refused for pack if it is an object, or the result of the run', async () => {
    const roles = ROLES.flatMap((role) => ['--role', role]);
    for (const out of ['run-1/state.json', 'result-1.json', 'run-1.json']) {
      const args = ['pack', 'run-1', '--run', 'run-1.json', ...SIGNER, ...roles, '--force', '--out', out];
      expect((await call(args)).code).toBe(2);
    }
  });
});

describe('outputs that are checked before the work', () => {
  it('leave text on standard output when only files are named', async () => {
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
  ])('%s refuses one file for two formats, in two spellings', async (_, write) => {
    expect((await write('--format', 'json=out', '--format', 'text=./out')).code).toBe(2);
  });

  it.each([
    ['verify', verify],
    ['gate', gate],
  ])('%s refuses a folder, and a folder that is absent', async (_, write) => {
    await mkdir('folder', { recursive: true });
    for (const out of ['folder', 'absent/out.json'])
      expect(await write('--force', '--format', `json=${out}`)).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('reports of an earlier run', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['a policy that cannot be read', ['--policy', 'absent.yaml']],
    ['a wrong call', ['--project', 'prj_000000000001']],
    ['a trust store that is none', ['--trust', 'base.yaml']],
    ['an interrupted run', []],
  ];
  it.each(cases)('are gone after %s', async (what, args) => {
    await writeFile('behind', 'stale');
    await symlink('behind', 'stale-link');
    await writeFile('out', 'stale');
    const files = [
      '--force',
      '--format',
      'json=out',
      '--format',
      'text=stale-link',
      ...vsa,
      '--vsa',
      'stale.vsa',
    ];
    await writeFile('stale.vsa', 'stale');
    const signal = what === 'an interrupted run' ? AbortSignal.abort() : new AbortController().signal;
    const { code } = await call(['gate', 'good', '--trust', 'trust.json', ...args, ...files], { signal });
    expect(code).toBe(what === 'an interrupted run' ? 130 : 2);
    await expect(readFile('out')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(readFile('stale.vsa')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile('behind', 'utf8')).toBe('');
    await rm('stale-link');
  });

  it('stay when --force is not given', async () => {
    await writeFile('out', 'stale');
    expect((await gate('--format', 'json=out')).code).toBe(2);
    expect(await readFile('out', 'utf8')).toBe('stale');
  });
});
