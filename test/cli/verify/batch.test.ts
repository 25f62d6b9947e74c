import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { call, drillproof, type CliResult, useEvidenceFolder } from '../make.ts';

const dir = useEvidenceFolder(async () => {
  for (const n of [1, 2]) {
    const signer = ['--key', 'key.pem', '--issuer', 'acme-ci'];
    await call(['export', `part-${n}.zip`, ...signer, '--id', 'evexp_000000000077', '--out', `twin-${n}`]);
  }
  await cp('twin-1', 'twin-1-again', { recursive: true });
  await cp('export', 'damaged', { recursive: true });
  const part = await readFile(DAMAGED_PART);
  part[100]! ^= 1;
  await writeFile(DAMAGED_PART, part);
});

const DAMAGED_PART = 'damaged/parts/evidence_000000000001.zip';
/** A name longer than any file system takes: nothing can be said of what it names. */
const UNREADABLE = 'u'.repeat(300);
const NOBODY = 65_534;
const TRUST = ['--trust', 'trust.json', '--jobs', '1'];
const verify = (...args: readonly string[]): Promise<CliResult> => call(['verify', ...args, ...TRUST]);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
const verifyWithInput = (input: string, ...args: readonly string[]): Promise<CliResult> =>
  call(['verify', ...args, ...TRUST], { stdin: bytesOf(input) });

async function verifyListed(list: string, ...args: readonly string[]): Promise<CliResult> {
  await writeFile('list.txt', list);
  return verify('--list', 'list.txt', ...args);
}

type Reports = {
  readonly kind: string;
  readonly results: readonly { readonly path: string }[];
  readonly summary: Readonly<Record<string, unknown>>;
};
const reportsIn = ({ stdout }: CliResult): Reports => JSON.parse(stdout) as Reports;
const pathsIn = (ended: CliResult): readonly string[] => reportsIn(ended).results.map(({ path }) => path);

describe('verify --list', () => {
  it('verify --list verifies the paths of the command line first, then those of the file', async () => {
    const ended = await verifyListed('part-2.zip\nexport\n', 'part-1.zip', '--json');
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(pathsIn(ended)).toEqual(['part-1.zip', 'part-2.zip', 'export']);
  });

  it.each([
    ['LF', 'part-1.zip\nexport\n'],
    ['CRLF', 'part-1.zip\r\nexport\r\n'],
    ['empty lines between', '\n\npart-1.zip\n\nexport\n\n'],
    ['no end of the last line', 'part-1.zip\nexport'],
  ])('takes lines with %s', async (_name, list) => {
    const ended = await verifyListed(list, '--json');
    expect([ended.code, pathsIn(ended)]).toEqual([0, ['part-1.zip', 'export']]);
  });

  it('reads standard input for -, with names ended by NUL for -0', async () => {
    await cp('part-1.zip', 'two\nlines.zip');
    const lines = await verifyWithInput('part-1.zip\npart-2.zip\n', '--list', '-', '--json');
    const nul = await verifyWithInput('two\nlines.zip\0part-2.zip\0', '--list', '-', '-0', '--json');
    expect([lines.code, pathsIn(lines)]).toEqual([0, ['part-1.zip', 'part-2.zip']]);
    expect([nul.code, pathsIn(nul)]).toEqual([0, ['two\nlines.zip', 'part-2.zip']]);
  });

  it('takes a line that begins with # as a path, for nothing is passed over quietly', async () => {
    const absent = await verifyListed('# part-1.zip\n', '--json');
    expect([absent.code, pathsIn(absent)]).toEqual([2, ['# part-1.zip']]);
    await cp('part-1.zip', '# part-1.zip');
    expect((await verifyListed('# part-1.zip\n')).code).toBe(0);
    await rm('# part-1.zip');
  });

  it.each(['', '\n', '\r\n\n'])('ends with 3 for a list of nothing: %j', async (list) => {
    const text = await verifyListed(list);
    expect([text.code, text.stdout.trimEnd().split('\n').at(-1)]).toEqual([3, 'TOTAL 0 of 0 paths passed']);
    const json = await verifyListed(list, '--json');
    expect([json.code, reportsIn(json)]).toMatchObject([3, { results: [], summary: { judged: 0 } }]);
  });

  it('gives the form for many to a list of one', async () => {
    const ended = await verifyListed('part-1.zip\n', '--json');
    expect(reportsIn(ended)).toMatchObject({ kind: 'reports', summary: { judged: 1, passed: 1 } });
  });

  it('verify --list verifies a path that is named twice only once', async () => {
    const list = `./export\nexport/\n${resolve('export')}\nexport/../export\n`;
    const ended = await verifyListed(list, 'export', '--json');
    expect([ended.code, pathsIn(ended)]).toEqual([0, ['export']]);
    expect(ended.stderr.match(/is verified once/g)).toHaveLength(4);
    expect(reportsIn(ended).summary).toMatchObject({ judged: 1, copies: [] });
  });

  it.each([
    ['a list that is not there', ['--list', 'no-list.txt'], /io\.NOT_FOUND/],
    ['-0 without a list', ['part-1.zip', '-0'], /usage\.INVALID/],
    ['neither a path nor a list', [], /usage\.INVALID/],
  ])('ends with 2 for %s', async (_name, args, said) => {
    const { code, stdout, stderr } = await verify(...args);
    expect([code, stdout, said.test(stderr)]).toEqual([2, '', true]);
  });

  it('verify --list refuses names that are not UTF-8 before it verifies anything', async () => {
    await writeFile('bytes.txt', Uint8Array.of(0x70, 0xff, 0x0a));
    const { code, stdout, stderr } = await verify('--list', 'bytes.txt');
    expect([code === 0, stdout, /encoding\.UTF8_INVALID/.test(stderr)]).toEqual([false, '', true]);
  });
});

describe('verify of many paths', () => {
  it.each([
    [['part-1.zip', 'export'], 0],
    [[UNREADABLE, 'export'], 3],
    [['export', UNREADABLE, 'part-1.zip'], 3],
    [['export', 'absent', UNREADABLE], 2],
    [['damaged', 'export'], 1],
    [[UNREADABLE, 'damaged', 'export'], 1],
    [['damaged', 'absent', UNREADABLE], 1],
  ])('ends with the worst of all: %j is %i', async (paths, code) => {
    const text = await verify(...paths);
    const json = await verify(...paths, '--json');
    expect([text.code, json.code, pathsIn(json)]).toEqual([code, code, paths]);
  });

  it('ends with 3 where the rights to read one of them lack, unless another is bad', async () => {
    await cp('export', 'closed', { recursive: true });
    await chmod('closed/parts/evidence_000000000001.zip', 0);
    await chmod('.', 0o755);
    const how = { cwd: dir.root, ...(process.getuid?.() === 0 && { uid: NOBODY }) };
    const ended = await drillproof(['verify', 'closed', 'export', ...TRUST, '--json'], how);
    const withBad = await drillproof(['verify', 'closed', 'damaged', ...TRUST], how);
    expect([ended.code, withBad.code, pathsIn(ended)]).toEqual([3, 1, ['closed', 'export']]);
    expect(reportsIn(ended).summary).toMatchObject({
      passed: 1,
      unreadable: 0,
      verdicts: { verified: 1, incomplete: 1, failed: 0 },
    });
  });

  it('sums up by cause, each with its first subjects', async () => {
    const { summary } = reportsIn(await verify('damaged', 'absent', 'export', 'gone', '--json'));
    expect(summary).toMatchObject({
      judged: 4,
      passed: 1,
      unreadable: 2,
      verdicts: { verified: 1, failed: 1 },
    });
    const causes = summary['causes'] as readonly { code: string; subjects: number; first: unknown }[];
    const of = (code: string) => causes.find((cause) => cause.code === code);
    expect(of('io.NOT_FOUND')).toMatchObject({
      subjects: 2,
      first: [
        { path: 'absent', subject: 'absent' },
        { path: 'gone', subject: 'gone' },
      ],
    });
    expect(of('part.DIGEST_MISMATCH')).toMatchObject({
      subjects: 1,
      first: [{ path: 'damaged', subject: 'evidence_000000000001' }],
    });
  });

  it('repeats the paths that did not pass after the summary, and ends with the total', async () => {
    const { stdout } = await verify('damaged', 'export', 'absent');
    expect(stdout).toMatch(/^VERIFIED .* \(export\)$/m);
    expect(stdout).toMatch(
      /# damaged\nFAILED [^]*# absent\n[^]*Summary of 3 paths\n[^]*By cause\n[^]*Not passed\n {2}failed +damaged [^\n]*\n {2}not checked +absent io\.NOT_FOUND\n\nTOTAL 1 of 3 paths passed, 2 did not\n$/,
    );
  });

  it('ends with 1 for one export id over two manifests, though each alone is verified', async () => {
    expect((await verify('twin-1')).code).toBe(0);
    expect((await verify('twin-2')).code).toBe(0);
    const ended = await verify('twin-1', 'twin-2', '--json');
    expect(ended.code).toBe(1);
    expect(reportsIn(ended).summary).toMatchObject({
      passed: 2,
      copies: [{ evidenceExportId: 'evexp_000000000077', same: false, paths: ['twin-1', 'twin-2'] }],
    });
    expect((await verify('twin-1', 'twin-2')).stdout).toContain('with different manifests');
  });

  it('ends with 0 for one export under two paths, and names it', async () => {
    const ended = await verify('twin-1', 'twin-1-again', '--json');
    expect(ended.code).toBe(0);
    expect(reportsIn(ended).summary).toMatchObject({ copies: [{ same: true, times: 2 }] });
  });

  it('writes the same to a file as to standard output', async () => {
    const { stdout } = await verify('damaged', 'export', '--json', '--format', 'text=many.txt');
    await verify('damaged', 'export', '--format', 'json=many.json');
    expect(await readFile('many.json', 'utf8')).toBe(stdout);
    expect(await readFile('many.txt', 'utf8')).toBe((await verify('damaged', 'export')).stdout);
  });
});

describe('diff', () => {
  beforeAll(async () => {
    await call(['verify', 'export', ...TRUST, '--as-of', '2025-01-01', '--format', 'json=before.json']);
    await call(['verify', 'export', ...TRUST, '--as-of', '2025-02-01', '--format', 'json=later.json']);
    await call(['verify', 'damaged', ...TRUST, '--as-of', '2025-01-01', '--format', 'json=damaged.json']);
    await verify('export', 'damaged', '--format', 'json=several.json');
  });

  it.each([
    [['before.json', 'before.json'], 0, true],
    [['before.json', 'later.json'], 0, true],
    [['several.json', 'several.json'], 0, true],
    [['before.json', 'damaged.json'], 1, false],
    [['damaged.json', 'before.json'], 1, false],
  ])('of %j ends with %i', async (files, code, equal) => {
    const text = await call(['diff', ...files]);
    const json = await call(['diff', ...files, '--json']);
    expect([text.code, json.code, text.stdout.length > 0]).toEqual([code, code, true]);
    expect(JSON.parse(json.stdout)).toMatchObject({ schemaVersion: 1, kind: 'report-diff', equal });
  });

  it('names the part and the code that appeared', async () => {
    const { stdout } = await call(['diff', 'before.json', 'damaged.json']);
    expect(stdout).toMatch(/part\.DIGEST_MISMATCH/);
    expect(stdout).toMatch(/evidence_000000000001/);
  });

  it('takes one report from standard input', async () => {
    const stdin = bytesOf(await readFile('damaged.json', 'utf8'));
    expect((await call(['diff', 'before.json', '-'], { stdin })).code).toBe(1);
  });

  it.each([
    [['before.json'], 2],
    [['-', '-'], 2],
    [['before.json', 'no-report.json'], 2],
    [['before.json', 'trust.json'], 3],
    [['key.pem', 'before.json'], 3],
    [['empty.json', 'before.json'], 3],
  ])('of %j ends with %i and says nothing on standard output', async (files, code) => {
    await writeFile('empty.json', '');
    const { code: ended, stdout, stderr } = await call(['diff', ...files]);
    expect([ended, stdout, stderr.length > 0]).toEqual([code, '', true]);
  });
});
