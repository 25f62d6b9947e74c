import { afterEach, expect, it, vi } from 'vitest';
import { packaging } from '#packaging';
import { digestOf } from '../../src/bytes/hash.ts';
import { BUNDLE_MANIFEST } from '../../src/evidence/bundle/part.ts';
import { directorySource } from '../../src/node/evidence/directory-source.ts';
import { buildPoolSettings } from '../../src/node/verify-directory.ts';
import { createVerifyPool } from '../../src/node/verify-pool.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import type { ExportReport } from '../../src/verify/report.ts';
import type { PartVerifier } from '../../src/verify/part/listed-part.ts';
import { editJson, errorsOf, makeExport, makeTrust, NOW, repack } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

const HOSTILE = 'parts/evidence_000000000002.zip';
const MEMORY_MB = 64;

const root = await makeFolder();
const sample = await makeExport({ parts: 3 });
afterEach(() => vi.restoreAllMocks());

async function verifyInPool(
  files: Readonly<Record<string, Uint8Array>>,
  threads: number,
  memoryMb = MEMORY_MB,
): Promise<ExportReport> {
  await writeFiles(root, files);
  const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };
  const pool = createVerifyPool(threads, buildPoolSettings(root, options), { memoryMb });
  try {
    return await verifyExport(directorySource(root), {
      ...options,
      startThreads: () => pool.verifyPart,
      concurrency: 8,
    });
  } finally {
    await pool.close();
  }
}

/** Makes the export with a manifest in its second part that has `count` empty arrays for objects. */
async function makeExportWithArrays(count: number): Promise<Record<string, Uint8Array>> {
  const manifest = Buffer.from(`{"objects":[${'[],'.repeat(count - 1)}[]]}`);
  const part = await repack(sample.files[HOSTILE]!, (entries) => {
    entries.set(BUNDLE_MANIFEST, manifest);
  });
  const list = editJson<{ parts: { path: string; digest: string; bytes: string }[] }>(
    sample.files['manifest.json'],
    ({ parts }) => {
      const row = parts.find(({ path }) => path === HOSTILE)!;
      Object.assign(row, { digest: digestOf(part), bytes: String(part.length) });
    },
  );
  return { ...sample.files, [HOSTILE]: part, 'manifest.json': list };
}

const verdictsOf = ({ parts }: ExportReport): string[] => parts.map(({ verdict }) => verdict);
const errorCodesOf = ({ parts }: ExportReport, part: number): string[] => errorsOf(parts[part]!);

it('a worker thread that runs out of memory leaves only one part unchecked, although others were in its batch', async () => {
  vi.spyOn(packaging, 'verifyWorker').mockReturnValue(new URL('hungry-worker.ts', import.meta.url));
  const report = await verifyInPool(sample.files, 1);
  expect(verdictsOf(report)).toEqual(['verified', 'incomplete', 'verified']);
  expect(errorCodesOf(report, 1)).toEqual(['part.NOT_CHECKED']);
});

it.each([
  ['verifies a part with a million values in the usual memory', 999_990, 2048, 'bundle.MANIFEST_INVALID'],
  ['refuses a part with too many values in little memory', 1_100_000, MEMORY_MB, 'json.VALUES_EXCEEDED'],
])('a worker thread %s', async (_, values, memoryMb, code) => {
  const report = await verifyInPool(await makeExportWithArrays(values), 1, memoryMb);
  expect(verdictsOf(report)).toEqual(['verified', 'failed', 'verified']);
  expect(errorCodesOf(report, 1)).toContain(code);
});

const replaceThreads = (code: string): void => {
  vi.spyOn(packaging, 'verifyWorker').mockReturnValue(new URL(`data:text/javascript,${code}`));
};

it('a pool whose threads exit leaves every part unchecked', async () => {
  replaceThreads('process.exit(7)');
  const report = await verifyInPool(sample.files, 2);
  expect(verdictsOf(report)).toEqual(['incomplete', 'incomplete', 'incomplete']);
  expect(errorCodesOf(report, 0)).toEqual(['part.NOT_CHECKED']);
});

it('a pool whose threads fail with an error of the program rejects with internal.BUG', async () => {
  replaceThreads('throw new TypeError("x")');
  await expect(verifyInPool(sample.files, 2)).rejects.toMatchObject({ code: 'internal.BUG' });
});

it('a thread shares parts with the main thread while more wait than that accepts', async () => {
  await writeFiles(root, sample.files);
  const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };
  const jobs: Parameters<PartVerifier>[] = [];
  const verifyPart = (...job: Parameters<PartVerifier>) => void jobs.push(job);
  const { parts } = await verifyExport(directorySource(root), { ...options, startThreads: () => verifyPart });
  const verify = vi.fn(() => Promise.resolve(parts[0]!));
  const here = { verify, accepts: () => true, leastWaiting: 2 };
  const pool = createVerifyPool(2, buildPoolSettings(root, options), { here, memoryMb: MEMORY_MB });
  const started = vi.fn();
  process.on('worker', started);
  try {
    const reports = await Promise.all(Array.from({ length: 14 }, async () => pool.verifyPart(...jobs[0]!)));
    expect(reports.every((report) => report?.verdict === 'verified')).toBe(true);
    expect(verify).toHaveBeenCalledTimes(14 - 8 - 2); // a batch has 8 parts
    expect(started).toHaveBeenCalledTimes(1);
  } finally {
    process.off('worker', started);
    await pool.close();
  }
});
