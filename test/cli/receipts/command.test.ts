import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { faultsOf, schemaOf } from '../../docs/schema-of.ts';
import { expectResult } from '../make.ts';
import { servedExports } from '../mirror/served-exports.ts';

// Read now, because the tests change the current folder.
const [LISTED, VERIFIED] = [schemaOf('receipts-listed'), schemaOf('receipts-verified')];

let served: Awaited<ReturnType<typeof servedExports>>;
let head = '';

/** The mirror of the first export, in an archive. */
const inArchive = (): string => `archive/${served.ids[0]}`;

beforeAll(async () => {
  served = await servedExports();
  for (let run = 0; run < 3; run++) {
    await rm(served.path(`${inArchive()}/SHA256SUMS`), { force: true }); // a run that changes nothing writes no receipt
    expect((await served.call(`mirror ${served.ids[0]} --to ${inArchive()} --quiet`)).code).toBe(0);
  }
  const [last = ''] = (await listReceipts(inArchive())).slice(-1);
  head = digestOf(await readFile(served.path(`${inArchive()}/receipts/${last}`)));
});
afterAll(() => served[Symbol.asyncDispose]());

const listReceipts = async (mirror: string): Promise<string[]> =>
  (await readdir(served.path(`${mirror}/receipts`))).filter((name) => name.endsWith('.json')).toSorted();

/** Copies the mirror without one receipt. */
async function copyWithout(to: string, at: number): Promise<void> {
  await cp(served.path(inArchive()), served.path(to), { recursive: true });
  const name = (await listReceipts(to)).at(at)!;
  await rm(served.path(`${to}/receipts/${name}`));
}

const json = async (line: string): Promise<[number, Record<string, unknown>]> => {
  const { code, stdout } = await served.run(`${line} --json`);
  return [code, JSON.parse(stdout) as Record<string, unknown>];
};

describe('drillproof receipts', () => {
  it('receipts list shows every run, oldest first, without a verdict', async () => {
    const text = await expectResult(served.run('receipts list archive'), 0);
    expect(text.match(/complete +3 +0 /g)).toHaveLength(3);
    const [, list] = await json('receipts list archive');
    expect(faultsOf(LISTED, list)).toEqual([]);
  });

  it('receipts verify checks the chain and prints its head', async () => {
    const text = await expectResult(served.run('receipts verify archive'), 0, `head      ${head}`);
    expect(text).toMatch(new RegExp(`^SOUND +${inArchive()}$`, 'm'));
    const [, verified] = await json('receipts verify archive');
    expect(faultsOf(VERIFIED, verified)).toEqual([]);
    expect(verified).toMatchObject({
      kind: 'receipts.verified',
      mirrors: [{ report: { verdict: 'sound' } }],
    });
  });

  it('receipts verify finds a receipt missing from the middle, and the newest only with --expect-head', async () => {
    await copyWithout('middle', 1);
    const missing = { code: 1, stdout: expect.stringContaining('receipt.MISSING') as string };
    expect(await served.run('receipts verify middle')).toMatchObject(missing);
    await copyWithout('cut', -1);
    expect((await served.run('receipts verify cut')).code).toBe(0);
    expect((await served.run(`receipts verify cut --expect-head ${head}`)).code).toBe(1);
    expect((await served.run(`receipts verify archive --expect-head ${head}`)).code).toBe(0);
  });

  it('receipts verify covers every mirror of an archive, and exits with the worst result', async () => {
    const [first, second] = served.ids.toSorted();
    await cp(served.path(inArchive()), served.path(`all/${served.ids[0]}`), { recursive: true });
    await cp(served.path('second'), served.path(`all/${served.ids[1]}`), { recursive: true });
    await copyWithout('all/copy', 0);
    const [code, { mirrors }] = await json('receipts verify all');
    expect(code).toBe(1);
    const verdictOf = (id: string) => (id === served.ids[0] ? 'sound' : 'none');
    expect(mirrors).toMatchObject([
      { path: 'all/copy', report: { verdict: 'broken' } },
      { path: `all/${first}`, report: { verdict: verdictOf(first!) } },
      { path: `all/${second}`, report: { verdict: verdictOf(second!) } },
    ]);
    const { stdout } = await served.run('receipts verify all');
    expect(stdout).toContain('3 mirrors: 1 sound, 1 broken, 0 unread, 1 without receipts');
    expect((await served.run(`receipts verify all --expect-head ${head}`)).code).toBe(2);
  });

  it('receipts verify ends with 1 for a copy in an archive under a name that is not the id of its export', async () => {
    await cp(served.path(inArchive()), served.path('copies/evexp_copy'), { recursive: true });
    const [code, { mirrors }] = await json('receipts verify copies');
    expect(code).toBe(1);
    expect(mirrors).toMatchObject([{ report: { findings: [{ code: 'scrub.NAME_MISMATCH' }] } }]);
  });

  it.each([
    ['an export that is not a mirror', 'receipts verify export'],
    ['a folder without a mirror', 'receipts verify run-1'],
    ['a list without receipts', 'receipts list export'],
  ])('receipts of %s exit with 3: %s', async (_, line) => {
    expect((await served.run(line)).code).toBe(3);
  });

  it('receipts verify reads the receipts of a BagIt mirror', async () => {
    await served.call(`mirror ${served.ids[0]} --to bag --bagit`);
    await served.call(`mirror ${served.ids[0]} --to bag --bagit`);
    const [code, { mirrors }] = await json('receipts verify bag');
    expect([code, mirrors]).toMatchObject([0, [{ path: 'bag/data', report: { verdict: 'sound' } }]]);
    expect((await served.run('verify bag --trust trust.json --jobs 1')).code).toBe(0);
  });

  it('receipts verify ends with 1 for exchanged mirrors, and for one that was scrubbed and is gone or empty', async () => {
    const [first, second] = served.ids;
    for (const id of [first, second]) await served.call(`mirror ${id} --to kept/${id} --quiet`);
    expect((await served.run('scrub kept')).code).toBe(0);
    expect((await served.run('receipts verify kept')).code).toBe(0);
    await rename(served.path(`kept/${first}`), served.path('away'));
    await expectResult(served.run('receipts verify kept'), 1, 'scrub.MIRROR_MISSING');
    const scrubbed = await expectResult(served.run('scrub kept'), 1, 'scrub.MIRROR_MISSING');
    expect(scrubbed).toContain('acknowledge it');
    await mkdir(served.path(`kept/${first}`));
    await expectResult(served.run('receipts verify kept'), 1, 'scrub.MIRROR_MISSING');
    await expectResult(served.run('scrub kept'), 1, 'scrub.MIRROR_MISSING');
    await rename(served.path(`kept/${second}`), served.path(`kept/${first}`));
    await rename(served.path('away'), served.path(`kept/${second}`));
    const text = await expectResult(served.run('receipts verify kept'), 1, 'scrub.NAME_MISMATCH');
    expect(text).not.toContain('scrub.MIRROR_MISSING');
    await expectResult(served.run(`receipts verify kept/${second}`), 1, 'scrub.NAME_MISMATCH');
  });
});
