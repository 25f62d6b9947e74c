import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { DrillproofError } from '../../src/errors.ts';
import { parseReceipt } from '../../src/evidence/export/receipt.ts';
import { appendReceipt, type ReceiptFacts, type ReceiptSigning } from '../../src/mirror/index.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { mirrorDirectory } from '../../src/node/mirror/directory.ts';
import { createSigner, trustStore, type Purpose, type TrustedKey } from '../../src/trust/index.ts';
import { verifyExport, verifyReceipts } from '../../src/verify/index.ts';
import { failureOf } from '../client/make.ts';
import { makeExport } from '../faults/export-source.ts';
import { cleanUp, filesOf, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);
const made = makeExport();
const signer = createSigner(new Uint8Array(32).fill(7));
const signing: ReceiptSigning = { signer, issuer: 'acme-archive' };
const trusted = (purposes: readonly Purpose[], patch: Partial<TrustedKey> = {}) =>
  trustStore([
    {
      issuer: 'acme-archive',
      keyId: signer.keyId,
      point: signer.point,
      compromised: false,
      purposes,
      ...patch,
    },
  ]);
const asOfMs = Date.UTC(2040, 0, 1);

const receiptsIn = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'receipts'))).filter((name) => name.endsWith('.json')).toSorted();

describe('the receipts of a mirror', () => {
  it('name the one before them by path and digest, the first none', async () => {
    const folder = await newFolder();
    const server = await source(made);
    for (let run = 0; run < 3; run++) await mirror(server, folder);
    const names = await receiptsIn(folder);
    const bytes = await Promise.all(names.map((name) => readFile(join(folder, 'receipts', name))));
    const links = bytes.map((one) => {
      const receipt = parseReceipt(one);
      return receipt.schemaVersion === 1 ? 'none' : receipt.previous;
    });
    expect(links).toEqual([
      undefined,
      { path: `receipts/${names[0]}`, digest: digestOf(bytes[0]!) },
      { path: `receipts/${names[1]}`, digest: digestOf(bytes[1]!) },
    ]);
    const report = await verifyReceipts(directorySource(folder), { asOfMs });
    expect(report).toMatchObject({
      result: 'sound',
      manifestHere: true,
      head: { path: `receipts/${names[2]}` },
    });
  });

  it('stay in one order when the clock goes back or stands still', async () => {
    const folder = await newFolder();
    const server = await source(made);
    const times = [2_000_000_000_000, 1_000_000_000_000, 1_000_000_000_000, 2_000_000_000_001];
    for (const atMs of times) await mirror(server, folder, { now: () => atMs });
    const report = await verifyReceipts(directorySource(folder), { asOfMs });
    expect(report.result).toBe('sound');
    expect(report.receipts.map(({ finishedAtMs }) => finishedAtMs! - times[0]!)).toEqual([0, 1, 2, 3]);
  });

  it('are signed when asked, and a mirror with them verifies as before', async () => {
    const folder = await newFolder();
    const { receipt } = await mirror(await source(made), folder, { signing });
    const [name = ''] = await receiptsIn(folder);
    expect((await filesOf(folder)).has(`receipts/${name}.dsse`)).toBe(true);
    const report = await verifyReceipts(directorySource(folder), { asOfMs, trust: trusted(['receipt']) });
    expect(report).toMatchObject({
      result: 'sound',
      firstSeen: { atMs: receipt.finishedAtMs, issuer: 'acme-archive', keyId: signer.keyId },
    });
    const exported = await verifyExport(directorySource(folder), { asOfMs });
    expect(exported.coverage.mirrorFiles).toContain(`receipts/${name}.dsse`);
    expect(exported.coverage.uncovered).toEqual([]);
  });

  it('remain, unsigned and whole, when the signer fails: the mirror is complete, and says it', async () => {
    const folder = await newFolder();
    const broken: ReceiptSigning = {
      issuer: 'acme-archive',
      signer: {
        ...signer,
        sign: () => Promise.reject(new DrillproofError('trust.SIGNER_FAILED', 'it exited with 1')),
      },
    };
    const server = await source(made);
    const error = await failureOf(mirror(server, folder, { signing: broken }));
    expect(error).toMatchObject({
      code: 'mirror.RECEIPT_UNSIGNED',
      details: { reason: 'trust.SIGNER_FAILED' },
    });
    expect([...(await filesOf(folder)).keys()].filter((path) => path.endsWith('.dsse'))).toEqual([]);
    expect((await verifyReceipts(directorySource(folder), { asOfMs })).result).toBe('sound');
    for (const path of ['manifest.json', 'SHA256SUMS', ...made.files.keys()])
      expect((await filesOf(folder)).has(path)).toBe(true);
    await mirror(server, folder, { signing });
    expect(await receiptsIn(folder)).toHaveLength(2);
  });
});

describe('a receipt that is appended', () => {
  const facts: ReceiptFacts = {
    evidenceExportId: 'evexp_000000000001',
    organizationId: 'org_000000000001',
    projectId: 'prj_000000000001',
    manifestDigest: `sha256:${'a'.repeat(64)}`,
    manifestFrom: 'source',
    source: 'https://control.example/base',
    tool: 'drillproof/1.0.0',
    startedAtMs: 1,
    outcome: 'complete',
    withoutLocalReports: false,
    files: [],
    failures: [],
  };

  it('names a damaged one as it lies there, and passes over what is no receipt', async () => {
    const folder = await newFolder();
    const target = await mirrorDirectory(folder).open();
    try {
      const first = await appendReceipt(target, facts, { now: () => 5 });
      await target.write(first.path, new TextEncoder().encode('{'));
      await target.write('receipts/zzz.json', new TextEncoder().encode('{}'));
      const second = await appendReceipt(target, facts, { now: () => 5 });
      expect(second.receipt.previous).toEqual({
        path: first.path,
        digest: digestOf(new TextEncoder().encode('{')),
      });
      expect(second.receipt.finishedAtMs).toBe(6);
    } finally {
      await target.close();
    }
  });

  it('is never one of two after the same: who does not hold the mirror cannot append', async () => {
    const folder = await newFolder();
    const target = await mirrorDirectory(folder).open();
    try {
      expect(await failureOf(mirrorDirectory(folder).open())).toMatchObject({ code: 'io.LOCKED' });
    } finally {
      await target.close();
    }
  });
});
