import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { parseReceipt } from '../../src/evidence/export/receipt.ts';
import { appendReceipt } from '../../src/mirror/finish.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { verifyReceipts } from '../../src/verify/receipts/receipts.ts';
import { makeExport } from '../faults/export-source.ts';
import { receiptFacts } from '../support/receipts.ts';
import { cleanUp, makeMirror, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);
const listReceipts = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'receipts'))).filter((name) => name.endsWith('.json')).toSorted();

it('the receipts of a mirror name the previous receipt by path and digest, the first names none', async () => {
  const { folder, server } = await makeMirror();
  for (let run = 1; run < 3; run++) {
    await rm(join(folder, 'SHA256SUMS')); // a run that changes nothing writes no receipt
    await mirror(server, folder);
    await mirror(server, folder);
  }
  const names = await listReceipts(folder);
  const bytes = await Promise.all(names.map((name) => readFile(join(folder, 'receipts', name))));
  const links = bytes.map((content) => {
    const receipt = parseReceipt(content);
    return receipt.schemaVersion === 1 ? 'none' : receipt.previous;
  });
  expect(links).toEqual([
    undefined,
    { path: `receipts/${names[0]}`, digest: digestOf(bytes[0]!) },
    { path: `receipts/${names[1]}`, digest: digestOf(bytes[1]!) },
  ]);
  const head = { path: `receipts/${names[2]}` };
  const report = await verifyReceipts(directorySource(folder), {});
  expect(report).toMatchObject({ verdict: 'sound', manifestHere: true, head });
});

it('the receipts of a mirror stay in order when the clock is set back or stops', async () => {
  const folder = await newFolder();
  const server = await source(makeExport());
  const times = [2_000_000_000_000, 1_000_000_000_000, 1_000_000_000_000, 2_000_000_000_001];
  for (const atMs of times) {
    await mirror(server, folder, { now: () => atMs });
    await rm(join(folder, 'SHA256SUMS'));
  }
  const report = await verifyReceipts(directorySource(folder), {});
  expect(report.verdict).toBe('sound');
  expect(report.receipts.map(({ finishedAtMs }) => finishedAtMs! - times[0]!)).toEqual([0, 1, 2, 3]);
});

it('an appended receipt names a damaged receipt by its digest, and skips files that are not receipts', async () => {
  const facts = { ...receiptFacts, startedAtMs: 1, files: [] };
  const target = await mirrorDirectory(await newFolder()).open();
  const { path } = await appendReceipt(target, facts, () => 5);
  await target.write(path, Buffer.from('{'));
  await target.write('receipts/zzz.json', Buffer.from('{}'));
  const { receipt } = await appendReceipt(target, facts, () => 5);
  expect(receipt.previous).toEqual({ path, digest: digestOf(Buffer.from('{')) });
  expect(receipt.finishedAtMs).toBe(6);
  await target.close();
});
