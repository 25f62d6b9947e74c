import { expect, it, vi } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import type { EvidenceSource, OpenFile } from '../../src/evidence/source.ts';
import { createDigestPool } from '../../src/node/digest-pool.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import type { ExportReport } from '../../src/verify/report.ts';
import { resolveSettings } from '../../src/verify/options.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { editJson, flipBit, makeExport, NOW } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const root = await makeFolder();
const source = directorySource(root);
const DAMAGED = 3;

// At this depth a part may contain any bytes. Two are too small for threads, and one is damaged.
const { files } = await makeExport({ parts: 8, signedParts: false, signedList: false });
const manifest = editJson<{ parts: { path: string; digest: string; bytes: string }[] }>(
  files['manifest.json'],
  ({ parts }) => {
    for (const [n, row] of parts.entries()) {
      const part = new Uint8Array(n < 2 ? 65_535 : 400_000 + n).fill(n);
      Object.assign(row, { digest: digestOf(part), bytes: String(part.length) });
      files[row.path] = n === DAMAGED ? flipBit(part, part.length - 1) : part;
    }
  },
);
await writeFiles(root, { ...files, 'manifest.json': manifest });

async function verifyDigests(
  threads: number,
  { signal, open = (file) => file }: { signal?: AbortSignal; open?: (file: OpenFile) => OpenFile } = {},
): Promise<ExportReport> {
  const options = { asOfMs: NOW, depth: 'digest', ...(signal && { signal }) } as const;
  const opening: EvidenceSource = { ...source, open: async (path) => open(await source.open(path)) };
  const pool = createDigestPool(threads, opening, resolveSettings(options));
  try {
    return await verifyExport(source, { ...options, startThreads: () => pool.verifyPart, concurrency: 6 });
  } finally {
    await pool.close();
  }
}

it.each([1, 3])('a pool for digests with %i threads returns the report of one thread', async (threads) => {
  const report = await verifyDigests(threads);
  expect(report).toEqual(await verifyExport(source, { asOfMs: NOW, depth: 'digest' }));
  expect(report.parts.map(({ verdict }) => verdict === 'intact')).toEqual(
    report.parts.map((_, n) => n !== DAMAGED),
  );
  expect(report.parts[DAMAGED]!.findings[0]?.code).toBe('part.DIGEST_MISMATCH');
});

it('a pool for digests hashes in its threads, and in this thread the files that they cannot read', async () => {
  const started = vi.fn();
  process.on('worker', started);
  try {
    const report = await verifyDigests(2, { open: (file) => ({ ...file, fd: -1 }) });
    expect(report).toEqual(await verifyExport(source, { asOfMs: NOW, depth: 'digest' }));
    expect(started.mock.calls.length).toBeGreaterThanOrEqual(2);
  } finally {
    process.off('worker', started);
  }
});

/** Makes the third part shorter. The error of its thread is not reported. */
function shorten(file: OpenFile): OpenFile {
  if (file.size !== 400_002) return file;
  return { ...file, fd: -1, readInto: (target, offset) => file.readInto!(target, offset + 1) };
}

it('a pool for digests reports io.CHANGED for a file that became shorter, in any thread', async () => {
  const { parts } = await verifyDigests(2, { open: shorten });
  expect(parts[2]!.findings.map(({ code }) => code)).toContain('io.CHANGED');
  expect(parts[4]!.verdict).toBe('intact');
});

it('a pool for digests that is aborted rejects with the reason and closes every file', async () => {
  const controller = new AbortController();
  let opened = 0;
  const open = (file: OpenFile): OpenFile => {
    if (++opened === 5) setImmediate(() => controller.abort(new Error('enough')));
    return { ...file, close: () => file.close().then(() => void opened--) };
  };
  await expect(verifyDigests(2, { signal: controller.signal, open })).rejects.toThrow('enough');
  await vi.waitFor(() => expect(opened).toBe(0));
});
