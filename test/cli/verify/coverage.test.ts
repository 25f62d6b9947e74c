import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Files } from '../../support/bag.ts';
import { extraField, rawZip } from '../../zip/raw-zip.ts';
import { call, type CliResult, useEvidenceFolder } from '../make.ts';

useEvidenceFolder(async () => {
  await writeFile('opaque.bin', 'anything');
  const signer = ['--key', 'key.pem', '--issuer', 'acme-ci'];
  const parts = ['part-1.zip', 'part-2.zip', '--report', 'opaque.bin,project=prj_000000000001'];
  for (const out of ['whole', 'whole.zip']) {
    const ended = await call(['export', ...parts, ...signer, '--through', '2100-01-01', '--out', out]);
    expect(ended).toMatchObject({ code: 0 });
  }
});

const verify = (...args: readonly string[]): Promise<CliResult> =>
  call(['verify', ...args, '--trust', 'trust.json', '--jobs', '1']);
const required = (...args: readonly string[]): Promise<CliResult> => verify(...args, '--require-coverage');

async function writeTree(root: string, files: Files): Promise<void> {
  await rm(root, { recursive: true, force: true });
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), bytes);
  }
}

async function readTree(root: string): Promise<Files> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const rows = names.map(async (name) => [name.slice(root.length + 1), await readFile(name)] as const);
  return Object.fromEntries(await Promise.all(rows));
}

/** The export with more files in it. */
async function withFiles(more: Readonly<Record<string, string>>): Promise<string> {
  const added = Object.entries(more).map(([path, text]) => [path, Buffer.from(text)] as const);
  await writeTree('more', { ...(await readTree('whole')), ...Object.fromEntries(added) });
  return 'more';
}

const SUMS = `${'0'.repeat(64)}  manifest.json\n`;

describe('verify --require-coverage', () => {
  it.each(['whole.zip', 'part-1.zip'])(
    'fails for %s, because no digest covers the ZIP metadata of that file',
    async (path) => {
      expect((await verify(path)).code).toBe(0);
      const { code, stdout } = await required(path);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^FAILED .*: --require-coverage: no digest covers [\d,]+ of [\d,]+ bytes/);
    },
  );

  it.each([
    ['a file', { 'notes.txt': 'hello' }, 5],
    ['an empty file', { 'notes.txt': '' }, 0],
    ['a file deep below', { 'a/b/c/notes.txt': 'hi' }, 2],
    ['what is no receipt beside receipts', { 'receipts/notes.txt': 'hi' }, 2],
    ['checksums that lie elsewhere', { 'other/SHA256SUMS': SUMS }, SUMS.length],
  ])('fails over %s that nothing covers, which is verified otherwise', async (_name, more, bytes) => {
    const path = await withFiles(more);
    expect((await verify(path)).code).toBe(0);
    const { code, stdout } = await required(path);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(
        `^FAILED evexp_\\w+: --require-coverage: no digest covers ${bytes} of [0-9,]+ bytes, 1 whole file`,
      ),
    );
  });

  it('holds for an unsigned list that was accepted as intact, but not for an attestation that no key was named for', async () => {
    const unsigned = ['--report', 'opaque.bin,project=prj_000000000001', '--through', '2100-01-01'];
    await call(['export', 'part-1.zip', ...unsigned, '--out', 'unsigned']);
    const codes = [];
    for (const path of ['unsigned', 'whole']) {
      const ended = await call(['verify', path, '--jobs', '1', '--accept', 'intact', '--require-coverage']);
      codes.push(ended.code);
    }
    expect(codes).toEqual([0, 1]);
  });

  it('holds for parts of which the archive alone is compared', async () => {
    const digest = ['--depth', 'digest', '--accept', 'intact'];
    expect((await required('whole', ...digest)).code).toBe(0);
    const path = await withFiles({ 'notes.txt': 'hello' });
    expect((await required(path, ...digest)).code).toBe(1);
  });

  it('--require-coverage applies to each of many paths', async () => {
    const path = await withFiles({ 'notes.txt': 'hello' });
    const { code, stdout } = await required('whole', path, 'export', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      summary: { judged: 3, passed: 2, verdicts: { verified: 2, failed: 1 } },
    });
  });
});

const gate = (path: string): Promise<CliResult> =>
  call(['gate', path, '--policy', 'coverage.json', '--trust', 'trust.json', '--jobs', '1']);

it('a policy that asks for full coverage refuses an export inflated by extra fields', async () => {
  const extra = extraField(0xcafe, new Uint8Array(60_000));
  const files = Object.entries(await readTree('whole'));
  await writeFile(
    'fat.zip',
    rawZip(files.map(([name, plain]) => ({ name, plain, method: 0, localExtra: extra }))),
  );
  const policy = { schemaVersion: 1, kind: 'policy', completeness: { coverage: 'full' } };
  await writeFile('coverage.json', JSON.stringify(policy));
  expect((await verify('fat.zip')).code).toBe(0);
  expect(await gate('fat.zip')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('UNCOVERED_BYTES'),
  });
  expect((await gate('whole')).code).toBe(0);
});
