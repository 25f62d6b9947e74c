import { cp, readFile, readdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { call, type CliResult, useEvidenceFolder } from '../make.ts';

useEvidenceFolder(async () => {
  await call(['keys', 'generate', '--out', 'other.pem']);
});

const verify = (...args: readonly string[]): Promise<CliResult> => call(['verify', ...args, '--jobs', '1']);

it.each(['export', 'part-1.zip'])(
  'verify with a public key and no issuer shows the issuer that %s claims, to be confirmed elsewhere',
  async (path) => {
    const { code, stdout, stderr } = await verify(path, '--key', 'key.pub.pem');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('"acme-ci"');
    expect(stderr).toContain('--key key.pub.pem,issuer=acme-ci');
    expect(stderr).toContain('Confirm');
  },
);

it('verify with a public key and no issuer reports that the evidence names a different key', async () => {
  const { code, stderr } = await verify('export', '--key', 'other.pub.pem');
  expect(code).toBe(2);
  expect(stderr).toContain('with another key, sha256:');
  expect(stderr).not.toContain('issuer=acme-ci');
});

it('verify with a public key and no issuer prints a hostile issuer escaped', async () => {
  expect(
    await call([
      'pack',
      'run-1',
      '--run',
      'run-1.json',
      '--key',
      'key.pem',
      '--issuer',
      'a\u001b[2Kb; touch pwned',
      ...ROLES,
    ]),
  ).toMatchObject({ code: 0 });
  const { code, stderr } = await verify('hostile.zip', '--key', 'key.pub.pem');
  expect(code).toBe(2);
  expect(stderr).not.toContain('\u001b');
  expect(stderr).toContain('belongs to the issuer');
  expect(stderr).not.toContain('issuer=a');
});

const ROLES = [
  '--out',
  'hostile.zip',
  '--role',
  'journal.jsonl=evidence',
  '--role',
  'state.json=state',
  '--role',
  'trace.json=trajectory',
];

it.each(['export', 'part-1.zip'])(
  'verify with the wrong issuer for the right key is a wrong call for %s, not bad evidence',
  async (path) => {
    const { code, stdout, stderr } = await verify(path, '--key', 'key.pub.pem,issuer=acme');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('wrong issuer');
    expect(stderr).toContain('"acme-ci"');
  },
);

it('verify with the wrong issuer for the right key stays a failure where the key did not sign', async () => {
  expect((await verify('export', '--key', 'other.pub.pem,issuer=acme-ci')).code).toBe(1);
});

it('verify with the wrong issuer for the right key stays a failure where a trust store decides', async () => {
  const store = JSON.parse(await readFile('trust.json', 'utf8')) as { keys: { issuer: string }[] };
  store.keys[0]!.issuer = 'acme';
  await writeFile('renamed.json', JSON.stringify(store));
  expect((await verify('export', '--trust', 'renamed.json')).code).toBe(1);
});

describe('key files of the wrong kind', () => {
  it('--trust with a single key names --key', async () => {
    const { code, stderr } = await verify('export', '--trust', 'key.pub.pem');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--key key.pub.pem,issuer=NAME')]);
  });

  it.each(['trust.json', 'trust.json,issuer=acme-ci'])('--key %s names --trust', async (spec) => {
    const { code, stderr } = await verify('export', '--key', spec);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--trust trust.json')]);
  });

  it('a PEM key with a byte order mark is read', async () => {
    await writeFile('bom.pem', `\ufeff${await readFile('key.pub.pem', 'utf8')}`);
    expect((await verify('export', '--key', 'bom.pem,issuer=acme-ci')).code).toBe(0);
  });

  it('an expected digest in upper case is read', async () => {
    const { stdout } = await verify('export', '--trust', 'trust.json', '--json');
    const { manifestDigest } = JSON.parse(stdout) as { manifestDigest: string };
    const hex = manifestDigest.slice(7).toUpperCase();
    const expectManifest = async (value: string) =>
      (await verify('export', '--trust', 'trust.json', '--expect-manifest', value)).code;
    expect(await expectManifest(hex)).toBe(0);
    expect(await expectManifest(`${hex.slice(1)}0`)).not.toBe(0);
  });
});

it('verify warns about a trust store in the export, for the export and for its parts', async () => {
  await cp('export', 'carries-keys', { recursive: true });
  await cp('trust.json', 'carries-keys/trust.json');
  const [part = ''] = await readdir('carries-keys/parts');
  for (const path of ['carries-keys', `carries-keys/parts/${part}`])
    expect((await verify(path, '--trust', 'carries-keys/trust.json')).stderr).toContain(
      'inside the evidence',
    );
  expect((await verify('carries-keys', '--trust', 'trust.json')).stderr).not.toContain('inside the evidence');
  expect((await verify('part-1.zip', '--trust', 'trust.json')).stderr).toBe('');
});

it.each([
  [['verify', 'x', '--pubkey', 'k'], '--key FILE,issuer=NAME'],
  [['verify', 'x', '--issuer', 'i'], '--key FILE,issuer=NAME'],
  [['verify', 'x', '--output', 'f'], '--format KIND=FILE'],
  [['export', 'x', '--output', 'f'], '--out'],
  [['version'], '--version'],
])('options and commands of other tools %j names what does the same here', async (args, meant) => {
  const { code, stderr } = await call(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(meant)]);
});
