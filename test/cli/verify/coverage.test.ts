import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Files } from '../../support/bag.ts';
import { extraField, rawZip } from '../../zip/raw-zip.ts';
import { writeFiles } from '../../support/folder.ts';
import { call, callJson, expectPass, SIGNER, useEvidenceFolder, type CliResult } from '../make.ts';

useEvidenceFolder(async () => {
  await writeFile('opaque.bin', 'anything');
  for (const out of ['whole', 'whole.zip'])
    await expectPass(`export part-1.zip part-2.zip ${REPORT} ${SIGNER} --out ${out}`);
});

const REPORT = '--report opaque.bin,project=prj_000000000001 --through 2100-01-01';
const TRUST = '--trust trust.json --jobs 1';
const verify = (words: string): Promise<CliResult> => call(`verify ${words} ${TRUST}`);

async function readTree(root: string): Promise<Files> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const rows = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map(async (path) => [path.slice(root.length + 1), await readFile(path)] as const);
  return Object.fromEntries(await Promise.all(rows));
}

/** Copies the export, with more files in it, to the folder `more`. */
async function copyWith(files: Readonly<Record<string, string>>): Promise<void> {
  await rm('more', { recursive: true, force: true });
  await cp('whole', 'more', { recursive: true });
  await writeFiles('more', files);
}

const SUMS = `${'0'.repeat(64)}  manifest.json\n`;

describe('verify --require-coverage', () => {
  it.each(['whole.zip', 'part-1.zip'])(
    'fails for %s, because no digest covers the ZIP metadata of that file',
    async (path) => {
      expect((await verify(path)).code).toBe(0);
      const { code, stdout } = await verify(`${path} --require-coverage`);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^FAILED .*: --require-coverage: no digest covers [\d,]+ of [\d,]+ bytes/);
    },
  );

  it.each([
    ['a file', { 'notes.txt': 'hello' }, 5],
    ['an empty file', { 'notes.txt': '' }, 0],
    ['a file in deep folders', { 'a/b/c/notes.txt': 'hi' }, 2],
    ['a file among receipts that is not a receipt', { 'receipts/notes.txt': 'hi' }, 2],
    ['checksums in another folder', { 'other/SHA256SUMS': SUMS }, SUMS.length],
  ])(
    'counts the bytes of %s that no digest covers, which fails verify without it too',
    async (_, files, bytes) => {
      await copyWith(files);
      expect(await verify('more')).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('FILE_UNCOVERED'),
      });
      const { code, stdout } = await verify('more --require-coverage');
      expect(code).toBe(1);
      expect(stdout).toMatch(new RegExp(`no digest covers ${bytes} of [0-9,]+ bytes, 1 whole file`));
    },
  );

  it('passes for an unsigned list with --accept intact, but not for an attestation without a trusted key', async () => {
    await expectPass(`export part-1.zip ${REPORT} --out unsigned`);
    const options = '--jobs 1 --accept intact --require-coverage';
    expect((await call(`verify unsigned ${options}`)).code).toBe(0);
    expect((await call(`verify whole ${options}`)).code).toBe(1);
  });

  it('at depth digest passes for a whole export, and fails for one with another file', async () => {
    await copyWith({ 'notes.txt': 'hello' });
    const options = '--require-coverage --depth digest --accept intact';
    expect((await verify(`whole ${options}`)).code).toBe(0);
    expect((await verify(`more ${options}`)).code).toBe(1);
  });

  it('applies to each of many paths', async () => {
    await copyWith({ 'notes.txt': 'hello' });
    const reports = await callJson(`verify whole more export ${TRUST} --require-coverage`);
    const summary = { paths: 3, passed: 2, verdicts: { verified: 2, failed: 1 } };
    expect(reports).toMatchObject({ run: { exitCode: 1 }, summary });
  });
});

it('a policy that asks for full coverage refuses an export inflated by extra fields', async () => {
  const localExtra = extraField(0xcafe, new Uint8Array(60_000));
  const files = Object.entries(await readTree('whole'));
  await writeFile('fat.zip', rawZip(files.map(([name, plain]) => ({ name, plain, method: 0, localExtra }))));
  const policy = { schemaVersion: 1, kind: 'policy', completeness: { coverage: 'full' } };
  await writeFile('coverage.json', JSON.stringify(policy));
  const options = `--policy coverage.json ${TRUST}`;
  expect((await verify('fat.zip')).code).toBe(0);
  const stdout = expect.stringContaining('UNCOVERED_BYTES') as string;
  expect(await call(`gate fat.zip ${options}`)).toMatchObject({ code: 1, stdout });
  expect((await call(`gate whole ${options}`)).code).toBe(0);
});
