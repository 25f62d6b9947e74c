import { cp, readFile, readdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { call, expectExit, expectPass, ROLES, useEvidenceFolder, type CliResult } from '../make.ts';

useEvidenceFolder(async () => {
  await expectPass('keys generate --out other.pem');
});

const verify = (words: string): Promise<CliResult> => call(`verify ${words} --jobs 1`);

it.each(['export', 'part-1.zip'])(
  'verify with a public key and no issuer shows the issuer that %s claims, to be confirmed elsewhere',
  async (path) => {
    const { code, stdout, stderr } = await verify(`${path} --key key.pub.pem`);
    expect([code, stdout]).toEqual([2, '']);
    for (const text of ['"acme-ci"', '--key key.pub.pem,issuer=acme-ci', 'Confirm'])
      expect(stderr).toContain(text);
  },
);

it('verify with a public key and no issuer reports that the evidence names a different key', async () => {
  const { code, stderr } = await verify('export --key other.pub.pem');
  expect(code).toBe(2);
  expect(stderr).toContain('with another key, sha256:');
  expect(stderr).not.toContain('issuer=acme-ci');
});

it('verify with a public key and no issuer prints a hostile issuer escaped', async () => {
  const pack = `pack run-1 --run run-1.json ${ROLES} --key key.pem --out hostile.zip --issuer`;
  await expectPass([...pack.split(' '), 'a\u001b[2Kb; touch pwned']);
  const { code, stderr } = await verify('hostile.zip --key key.pub.pem');
  expect(code).toBe(2);
  expect(stderr).not.toContain('\u001b');
  expect(stderr).toContain('belongs to the issuer');
  expect(stderr).not.toContain('issuer=a');
});

it.each(['export', 'part-1.zip'])(
  'verify with the wrong issuer for the right key ends with 2 for %s',
  async (path) => {
    const { code, stdout, stderr } = await verify(`${path} --key key.pub.pem,issuer=acme`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('wrong issuer');
    expect(stderr).not.toContain('U+');
    expect(stderr).toContain('"acme-ci"');
  },
);

it('verify with an issuer that looks like the right one marks the letter that differs', async () => {
  const { code, stderr } = await verify('part-1.zip --key key.pub.pem,issuer=\u0430cme-ci');
  expect(code).toBe(2);
  expect(stderr).toContain('"acme-ci"');
  expect(stderr).toContain('only the expected name has U+0430 "\u0430"');
});

it('verify with the wrong issuer for the right key ends with 1 if the key did not sign', async () => {
  await expectExit('verify export --key other.pub.pem,issuer=acme-ci', 1);
});

it('verify with the wrong issuer for the right key ends with 1 if a trust store names both', async () => {
  const store = JSON.parse(await readFile('trust.json', 'utf8')) as { keys: { issuer: string }[] };
  store.keys[0]!.issuer = 'acme';
  await writeFile('renamed.json', JSON.stringify(store));
  await expectExit('verify export --trust renamed.json', 1);
});

describe('key files of the wrong kind', () => {
  it.each([
    ['--trust key.pub.pem', '--key key.pub.pem,issuer=NAME'],
    ['--key trust.json', '--trust trust.json'],
    ['--key trust.json,issuer=acme-ci', '--trust trust.json'],
  ])('%s gets the suggestion %s', async (option, suggestion) => {
    await expectExit(`verify export ${option}`, 2, suggestion);
  });

  it('a PEM key with a byte order mark is read', async () => {
    await writeFile('bom.pem', `\ufeff${await readFile('key.pub.pem', 'utf8')}`);
    await expectPass('verify export --key bom.pem,issuer=acme-ci');
  });
});

it('verify warns about a trust store in the export, for the export and for its parts', async () => {
  await cp('export', 'carries-keys', { recursive: true });
  await cp('trust.json', 'carries-keys/trust.json');
  const [part = ''] = await readdir('carries-keys/parts');
  for (const path of ['carries-keys', `carries-keys/parts/${part}`])
    expect((await verify(`${path} --trust carries-keys/trust.json`)).stderr).toContain('inside the evidence');
  for (const path of ['carries-keys', 'part-1.zip'])
    expect((await verify(`${path} --trust trust.json`)).stderr).not.toContain('inside the evidence');
});

it.each([
  ['verify x --pubkey k', '--key FILE,issuer=NAME'],
  ['verify x --issuer i', '--key FILE,issuer=NAME'],
  ['verify x --output f', '--format KIND=FILE'],
  ['export x --output f', '--out'],
  ['version', '--version'],
])('an option or command of another tool, as in "%s", gets the suggestion %s', async (line, suggestion) => {
  await expectExit(line, 2, suggestion);
});
