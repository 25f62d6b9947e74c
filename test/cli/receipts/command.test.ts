import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { faultsOf, schemaOf } from '../../docs/schema-of.ts';
import { servedExports } from '../mirror/served-exports.ts';

// Read now: the tests go into a folder of their own.
const [LISTED, VERIFIED] = [schemaOf('receipts-listed'), schemaOf('receipts-verified')];

let served: Awaited<ReturnType<typeof servedExports>>;
let head = '';
const SIGN = '--receipt-key receipts.pem --receipt-issuer acme-archive';

beforeAll(async () => {
  served = await servedExports();
  await must('keys generate --out receipts.pem');
  await must('keys add receipts.pub.pem --issuer acme-archive --purpose receipt --trust trust.json');
  for (const signed of [SIGN, '', SIGN]) {
    const { code } = await served.call(
      `mirror ${served.ids[0]} --to archive/one ${signed} --quiet`.replaceAll(/ +/g, ' '),
    );
    expect(code).toBe(0);
  }
  const [last = ''] = (await receiptsOf('archive/one')).slice(-1);
  head = digestOf(await readFile(served.path(`archive/one/receipts/${last}`)));
});
afterAll(() => served[Symbol.asyncDispose]());

async function must(line: string): Promise<void> {
  expect(await served.run(line)).toMatchObject({ code: 0 });
}
const receiptsOf = async (mirror: string): Promise<string[]> =>
  (await readdir(served.path(`${mirror}/receipts`))).filter((name) => name.endsWith('.json')).toSorted();

/** A copy of the mirror without the receipt of that place. */
async function without(to: string, at: number): Promise<void> {
  await cp(served.path('archive/one'), served.path(to), { recursive: true });
  const name = (await receiptsOf(to)).at(at)!;
  for (const path of [name, `${name}.dsse`]) await rm(served.path(`${to}/receipts/${path}`), { force: true });
}

const json = async (line: string): Promise<[number, Record<string, unknown>]> => {
  const { code, stdout } = await served.run(`${line} --json`);
  return [code, JSON.parse(stdout) as Record<string, unknown>];
};

describe('drillproof receipts', () => {
  it('lists every run, oldest first, and judges nothing', async () => {
    const { code, stdout } = await served.run('receipts list archive');
    expect(code).toBe(0);
    expect(stdout.match(/complete +3 +0 +(yes|no)/g)?.map((row) => row.slice(-3).trim())).toEqual([
      'yes',
      'no',
      'yes',
    ]);
    const [, listed] = await json('receipts list archive');
    expect(faultsOf(LISTED, listed)).toEqual([]);
  });

  it('verifies the chain, says who saw it first and what the head is', async () => {
    const { code, stdout } = await served.run('receipts verify archive --trust trust.json');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`head        ${head}`)]);
    expect(stdout).toMatch(/^SOUND +archive\/one$/m);
    expect(stdout).toMatch(/^first seen +20.*, says acme-archive/m);
    const [, verified] = await json('receipts verify archive --trust trust.json');
    expect(faultsOf(VERIFIED, verified)).toEqual([]);
    expect(verified).toMatchObject({ kind: 'receipts.verified', mirrors: [{ report: { result: 'sound' } }] });
  });

  it('finds one that is gone from the middle, and the newest only when it is expected', async () => {
    await without('middle', 1);
    expect(await served.run('receipts verify middle')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('receipt.MISSING'),
    });
    await without('cut', -1);
    expect((await served.run('receipts verify cut')).code).toBe(0);
    expect((await served.run(`receipts verify cut --expect-head ${head}`)).code).toBe(1);
    expect((await served.run(`receipts verify archive --expect-head ${head}`)).code).toBe(0);
  });

  it('goes over every mirror of an archive, and ends with the worst', async () => {
    await cp(served.path('archive/one'), served.path('all/one'), { recursive: true });
    await without('all/two', 0);
    await cp(served.path('export'), served.path('all/three'), { recursive: true });
    const [code, { mirrors }] = await json('receipts verify all');
    expect(code).toBe(1);
    expect(mirrors).toMatchObject([
      { path: 'all/one', report: { result: 'sound' } },
      { path: 'all/three', report: { result: 'none' } },
      { path: 'all/two', report: { result: 'broken' } },
    ]);
    const { stdout } = await served.run('receipts verify all');
    expect(stdout).toContain('3 mirrors: 1 sound, 1 broken, 0 unread, 1 without receipts');
    expect((await served.run(`receipts verify all --expect-head ${head}`)).code).toBe(2);
  });

  it.each([
    ['an export that no mirror made', 'receipts verify export'],
    ['a folder without a mirror', 'receipts verify run-1'],
    ['a list of nothing', 'receipts list export'],
  ])('does not call %s a success', async (_, line) => {
    expect((await served.run(line)).code).toBe(3);
  });

  it('verifies one receipt by itself, whatever its name, with a key that is named', async () => {
    const [name = ''] = await receiptsOf('archive/one');
    await cp(served.path(`archive/one/receipts/${name}`), served.path('sent.json'));
    await cp(served.path(`archive/one/receipts/${name}.dsse`), served.path('sent.json.dsse'));
    const by = (key: string) => served.run(`receipts verify sent.json --key ${key}`);
    expect(await by('receipts.pub.pem,issuer=acme-archive')).toMatchObject({ code: 0 });
    expect((await by('key.pub.pem,issuer=acme-archive')).code).toBe(1);
    expect((await served.run(`receipts verify sent.json --expect-head ${head}`)).code).toBe(2);
  });

  it('reads a bag', async () => {
    await served.call(`mirror ${served.ids[0]} --to bag --bagit ${SIGN}`);
    await served.call(`mirror ${served.ids[0]} --to bag --bagit ${SIGN}`);
    const [code, { mirrors }] = await json('receipts verify bag --trust trust.json');
    expect([code, mirrors]).toMatchObject([0, [{ path: 'bag/data', report: { result: 'sound' } }]]);
    expect((await served.run('verify bag --trust trust.json --jobs 1')).code).toBe(0);
  });
});

describe('drillproof mirror with a signed receipt', () => {
  it('ends with 3 when the signer fails, with everything here', async () => {
    const { code, stderr } = await served.call(
      `mirror ${served.ids[0]} --to unsigned --receipt-signer false --receipt-public-key receipts.pub.pem --receipt-issuer a`,
    );
    expect([code, stderr]).toEqual([3, expect.stringContaining('mirror.RECEIPT_UNSIGNED')]);
    expect((await served.run('verify unsigned --trust trust.json --jobs 1')).code).toBe(0);
    expect((await served.run('receipts verify unsigned')).code).toBe(0);
  });

  it.each([
    ['a key without an issuer', '--receipt-key receipts.pem'],
    ['an issuer without a key', '--receipt-issuer a'],
    ['a key and a program', `${SIGN} --receipt-signer true`],
    ['a time for no program', `${SIGN} --receipt-signer-timeout 5`],
    ['a look that writes nothing', `${SIGN} --check`],
  ])('refuses %s before anything is written', async (_, options) => {
    expect((await served.call(`mirror ${served.ids[0]} --to refused ${options}`)).code).toBe(2);
    await expect(readdir(served.path('refused'))).rejects.toThrow('ENOENT');
  });
});

describe('drillproof verify with receipts', () => {
  const ENDED_MS = Date.UTC(2100, 0, 1);
  const claims = async (line: string): Promise<boolean> => {
    const how = `--trust retired.json --as-of ${ENDED_MS + 1} --jobs 1 --json`;
    const { code, stdout } = await served.run(`verify ${line} ${how}`);
    expect(code).toBe(0);
    return stdout.includes('attestation.TIME_CLAIMED');
  };

  it('takes the word of a trusted receipt for the time of a retired key, from wherever it comes', async () => {
    const { keys } = JSON.parse(readFileSync(served.path('trust.json'), 'utf8')) as {
      keys: { issuer: string; notAfterMs?: number }[];
    };
    const ended = keys.map((key) => (key.issuer === 'acme-ci' ? { ...key, notAfterMs: ENDED_MS } : key));
    await writeFile(served.path('retired.json'), JSON.stringify({ keys: ended }));
    expect(await claims('archive/one')).toBe(false);
    await cp(served.path('archive/one'), served.path('bare'), { recursive: true });
    await rm(served.path('bare/receipts'), { recursive: true });
    expect(await claims('bare')).toBe(true);
    expect(await claims('bare --receipts archive')).toBe(false);
    expect(await claims('bare --receipts sent.json')).toBe(false);
  });

  it.each([
    [
      'without a key for receipts',
      'verify archive/one --key key.pub.pem,issuer=acme-ci --receipts archive',
      2,
    ],
    ['for a part alone', 'verify part-1.zip --trust trust.json --receipts archive', 2],
    ['where none is signed', 'verify archive/one --trust trust.json --receipts unsigned', 3],
  ] as const)('refuses them %s', async (_, line, expected) => {
    expect((await served.run(line)).code).toBe(expected);
  });
});

describe('the program of docs/receipts.md', () => {
  const program =
    /^```python dsse\.py\n([\s\S]*?)\n```$/m.exec(readFileSync('docs/receipts.md', 'utf8'))?.[1] ?? '';

  it('makes of an envelope what openssl verifies with the key, and refuses with another', async () => {
    const [name = ''] = await receiptsOf('archive/one');
    const work = served.path('by-hand');
    await mkdir(work);
    const run = (command: string, ...args: readonly string[]) =>
      spawnSync(command, args, { cwd: work, encoding: 'utf8' });
    const said = run('python3', '-c', program, join('..', 'archive/one/receipts', `${name}.dsse`));
    const bytes = await readFile(served.path(`archive/one/receipts/${name}`));
    expect(said.stdout).toContain(digestOf(bytes).slice('sha256:'.length));
    const check = (key: string) =>
      run('openssl', 'dgst', '-sha256', '-verify', `../${key}`, '-signature', 'signature', 'message');
    expect(check('receipts.pub.pem')).toMatchObject({ status: 0, stdout: 'Verified OK\n' });
    expect(check('key.pub.pem').status).toBe(1);
  });
});
