import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { call, drillproof, expectExit, readFailure, useEvidenceFolder, type CliResult } from '../make.ts';
import { writeDamaged, writeTwins } from './make.ts';

useEvidenceFolder(async () => {
  await writeTwins();
  await writeDamaged();
  await cp('twin-1', 'twin-1-again', { recursive: true });
});

/** A name longer than any file system accepts, so that its file cannot be checked. */
const UNREADABLE = 'u'.repeat(300);
const NOBODY = 65_534;
const TRUST = '--trust trust.json --jobs 1';
const verify = (words: string, input = ''): Promise<CliResult> => call(`verify ${words} ${TRUST}`, { input });

async function verifyList(list: string, words = ''): Promise<CliResult> {
  await writeFile('list.txt', list);
  return verify(`${words} --list list.txt`);
}

type Reports = {
  readonly kind: string;
  readonly results: readonly { readonly path: string }[];
  readonly summary: Readonly<Record<string, unknown>>;
};
const reportsIn = ({ stdout }: CliResult): Reports => JSON.parse(stdout);
const pathsIn = (result: CliResult): readonly string[] => reportsIn(result).results.map(({ path }) => path);

describe('verify --list', () => {
  it('verify --list verifies the paths of the command line first, then those of the file', async () => {
    const result = await verifyList('part-2.zip\nexport\n', 'part-1.zip --json');
    expect([result.code, result.stderr]).toEqual([0, '']);
    expect(pathsIn(result)).toEqual(['part-1.zip', 'part-2.zip', 'export']);
  });

  it.each([
    ['LF', 'part-1.zip\nexport\n'],
    ['CRLF', 'part-1.zip\r\nexport\r\n'],
    ['empty lines between', '\n\npart-1.zip\n\nexport\n\n'],
    ['no end of the last line', 'part-1.zip\nexport'],
  ])('verify --list reads lines with %s', async (_, list) => {
    const result = await verifyList(list, '--json');
    expect([result.code, pathsIn(result)]).toEqual([0, ['part-1.zip', 'export']]);
  });

  it.each([
    ['-', 'part-1.zip\npart-2.zip\n', ['part-1.zip', 'part-2.zip']],
    ['- -0', 'two\nlines.zip\0part-2.zip\0', ['two\nlines.zip', 'part-2.zip']],
  ])('verify --list %s reads standard input', async (words, input, paths) => {
    await cp('part-1.zip', 'two\nlines.zip');
    const result = await verify(`--list ${words} --json`, input);
    expect([result.code, pathsIn(result)]).toEqual([0, paths]);
  });

  it('verify --list reads a line that begins with # as a path', async () => {
    const absent = await verifyList('# part-1.zip\n', '--json');
    expect([absent.code, pathsIn(absent)]).toEqual([2, ['# part-1.zip']]);
    await cp('part-1.zip', '# part-1.zip');
    expect((await verifyList('# part-1.zip\n')).code).toBe(0);
    await rm('# part-1.zip');
  });

  it.each(['', '\n', '\r\n\n'])('verify --list ends with 3 for the empty list %j', async (list) => {
    const text = await verifyList(list);
    expect([text.code, text.stdout.trimEnd().split('\n').at(-1)]).toEqual([3, 'TOTAL 0 of 0 paths passed']);
    const json = await verifyList(list, '--json');
    expect([json.code, reportsIn(json)]).toMatchObject([3, { results: [], summary: { paths: 0 } }]);
  });

  it('verify --list writes the form for many paths for a list of one', async () => {
    const reports = { kind: 'reports', summary: { paths: 1, passed: 1 } };
    expect(reportsIn(await verifyList('part-1.zip\n', '--json'))).toMatchObject(reports);
  });

  it('verify --list verifies a path that is named twice only once', async () => {
    const list = `./export\nexport/\n${resolve('export')}\nexport/../export\n`;
    const result = await verifyList(list, 'export --json');
    expect([result.code, pathsIn(result)]).toEqual([0, ['export']]);
    expect(result.stderr.match(/is verified once/g)).toHaveLength(4);
    expect(reportsIn(result).summary).toMatchObject({ paths: 1, copies: [] });
  });

  it.each([
    ['a list that does not exist', '--list no-list.txt', 'io.NOT_FOUND'],
    ['-0 without a list', 'part-1.zip -0', 'usage.INVALID'],
    ['neither a path nor a list', '', 'usage.INVALID'],
  ])('verify ends with 2 for %s', async (_, words, error) => {
    const result = await verify(words);
    expect([result.stdout, ...(await readFailure(result))]).toEqual(['', 2, error]);
  });

  it('verify --list refuses names that are not UTF-8 before it verifies anything', async () => {
    await writeFile('bytes.txt', Uint8Array.of(0x70, 0xff, 0x0a));
    const stderr = expect.stringContaining('encoding.UTF8_INVALID') as string;
    expect(await verify('--list bytes.txt')).toMatchObject({ code: 1, stdout: '', stderr });
  });
});

describe('verify of many paths', () => {
  it.each<[string[], number]>([
    [['part-1.zip', 'export'], 0],
    [[UNREADABLE, 'export'], 3],
    [['export', UNREADABLE, 'part-1.zip'], 3],
    [['export', 'absent', UNREADABLE], 2],
    [['damaged', 'export'], 1],
    [[UNREADABLE, 'damaged', 'export'], 1],
    [['damaged', 'absent', UNREADABLE], 1],
  ])('the worst result decides: %j ends with %i', async (paths, code) => {
    const text = await verify(paths.join(' '));
    const json = await verify(`${paths.join(' ')} --json`);
    expect([text.code, json.code, pathsIn(json)]).toEqual([code, code, paths]);
  });

  it('verify ends with 3 if the right to read a part is missing, unless another path failed', async () => {
    await cp('export', 'closed', { recursive: true });
    await chmod('closed/parts/evidence_000000000001.zip', 0);
    await chmod('.', 0o755);
    const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
    const result = await drillproof(`verify closed export ${TRUST} --json`, user);
    const withFailed = await drillproof(`verify closed damaged ${TRUST}`, user);
    expect([result.code, withFailed.code, pathsIn(result)]).toEqual([3, 1, ['closed', 'export']]);
    const verdicts = { verified: 1, incomplete: 1, failed: 0 };
    expect(reportsIn(result).summary).toMatchObject({ passed: 1, unreadable: 0, verdicts });
  });

  it('the summary of verify counts findings by code, each with its first subjects', async () => {
    const { summary } = reportsIn(await verify('damaged absent export gone --json'));
    const verdicts = { verified: 1, failed: 1 };
    expect(summary).toMatchObject({ paths: 4, passed: 1, unreadable: 2, verdicts });
    const first = [
      { path: 'absent', subject: 'absent' },
      { path: 'gone', subject: 'gone' },
    ];
    const damage = [{ path: 'damaged', subject: 'evidence_000000000001' }];
    for (const cause of [
      { code: 'io.NOT_FOUND', subjects: 2, first },
      { code: 'part.DIGEST_MISMATCH', subjects: 1, first: damage },
    ])
      expect(summary['causes']).toContainEqual(expect.objectContaining(cause));
  });

  it('verify repeats the paths that did not pass after the summary, and ends with the total', async () => {
    const { stdout } = await verify('damaged export absent');
    expect(stdout).toMatch(/^VERIFIED .* \(export\)$/m);
    expect(stdout).toMatch(
      /# damaged\nFAILED [^]*# absent\n[^]*Summary of 3 paths\n[^]*By cause\n[^]*Not passed\n {2}failed +damaged [^\n]*\n {2}not checked +absent io\.NOT_FOUND\n\nTOTAL 1 of 3 paths passed, 2 did not; drills: 2 failed, 1 passed\n$/,
    );
  });

  it('verify ends with 1 for one export id with two manifests, though each alone is verified', async () => {
    for (const path of ['twin-1', 'twin-2']) expect((await verify(path)).code).toBe(0);
    const total =
      '\nTOTAL 2 of 2 paths passed; 1 export with different manifests; drills: 1 failed, 1 passed\n';
    await expectExit(`verify twin-1 twin-2 ${TRUST}`, 1, total);
    const copies = [{ evidenceExportId: 'evexp_000000000077', same: false, paths: ['twin-1', 'twin-2'] }];
    const run = { exitCode: 1, unmet: [{ requirement: 'one manifest for each export' }] };
    const reports = reportsIn(await verify('twin-1 twin-2 --json'));
    expect(reports).toMatchObject({ summary: { passed: 2, copies }, run });
  });

  it('verify ends with 0 for one export in two places, and names it', async () => {
    const summary = { copies: [{ same: true, times: 2 }] };
    const reports = reportsIn(await verify('twin-1 twin-1-again --json'));
    expect(reports).toMatchObject({ summary, run: { exitCode: 0 } });
  });

  it('verify writes the same bytes to a file as to standard output', async () => {
    const { stdout } = await verify('damaged export --json --format text=many.txt');
    await verify('damaged export --format json=many.json');
    expect(await readFile('many.json', 'utf8')).toBe(stdout);
    expect(await readFile('many.txt', 'utf8')).toBe((await verify('damaged export')).stdout);
  });
});

describe('diff', () => {
  beforeAll(async () => {
    for (const [path, date, name] of [
      ['export', '2025-01-01', 'before'],
      ['export', '2025-02-01', 'later'],
      ['damaged', '2025-01-01', 'damaged'],
    ])
      await verify(`${path} --as-of ${date} --format json=${name}.json`);
    await verify('export damaged --format json=several.json');
    await writeFile('empty.json', '');
  });

  it.each([
    ['before.json before.json', 0, true],
    ['before.json later.json', 0, true],
    ['several.json several.json', 0, true],
    ['before.json damaged.json', 1, false],
    ['damaged.json before.json', 1, false],
  ])('diff %s ends with %i', async (files, code, equal) => {
    const text = await call(`diff ${files}`);
    const json = await call(`diff ${files} --json`);
    expect([text.code, json.code, text.stdout.length > 0]).toEqual([code, code, true]);
    expect(JSON.parse(json.stdout)).toMatchObject({ schemaVersion: 1, kind: 'report-diff', equal });
  });

  it('diff names the part and the code that appeared', async () => {
    const { stdout } = await call('diff before.json damaged.json');
    expect(stdout).toContain('part.DIGEST_MISMATCH');
    expect(stdout).toContain('evidence_000000000001');
  });

  it('diff reads one report from standard input', async () => {
    await expectExit('diff before.json -', 1, '', { input: await readFile('damaged.json', 'utf8') });
  });

  it.each([
    ['before.json', 2],
    ['- -', 2],
    ['before.json no-report.json', 2],
    ['before.json trust.json', 3],
    ['key.pem before.json', 3],
    ['empty.json before.json', 3],
  ])('diff %s ends with %i and prints nothing on standard output', async (files, code) => {
    const stderr = expect.stringMatching(/\S/) as string;
    expect(await call(`diff ${files}`)).toMatchObject({ code, stdout: '', stderr });
  });
});
