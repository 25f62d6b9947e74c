import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { memoryAccess, type RandomAccess } from '../../../src/bytes/random-access.ts';
import { once } from '../../../src/bytes/async.ts';
import { zipSource } from '../../../src/evidence/source.ts';
import { zipExport } from '../../../src/node/evidence/yazl-export.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import { collect, errorsOf, faultyAccess, flipBit, NOW, pack, unpack } from '../../support/evidence.ts';
import { sample, verifySource, zip } from './setup.ts';

const verify = async (access: RandomAccess): Promise<ExportReport> =>
  verifySource(zipSource(await openZip(access)));

describe('an export in one file', () => {
  test('is verified as it is written through yazl', async () => {
    const out = new PassThrough();
    const bytes = collect(out);
    const entries = Object.entries(sample.files).map(([path, file]) => ({
      path,
      bytes: file.length,
      open: () => once(file),
    }));
    await zipExport(entries, out);
    expect((await verify(memoryAccess(await bytes))).verdict).toBe('verified');
  });

  test('is not verified with a byte flipped, unless no content changed', async () => {
    for (let offset = 0; offset < zip.length; offset += 31) {
      const forged = flipBit(zip, offset);
      const report = await verify(memoryAccess(forged)).catch(
        (error: { code?: string }) => error.code ?? 'no code',
      );
      const result = typeof report === 'string' ? report : report.verdict;
      if (result === 'verified') expect([offset, await unpack(forged)]).toEqual([offset, await unpack(zip)]);
      else expect([offset, result]).toEqual([offset, expect.stringMatching(/^(?:zip\.|failed$)/)]);
    }
  });

  test('is incomplete when any read fails after it was opened', async () => {
    const [opened, sound] = [faultyAccess(zip, -1), faultyAccess(zip, -1)];
    await openZip(opened);
    await verify(sound);
    for (let n = opened.reads; n < sound.reads; n++) {
      const report = await verify(faultyAccess(zip, n));
      expect([n, report.verdict]).toEqual([n, 'incomplete']);
    }
  });

  test('is not verified in a root folder of its own', async () => {
    const entries = Object.entries(sample.files).map(([path, bytes]) => [`export/${path}`, bytes] as const);
    const report = await verify(memoryAccess(await pack(entries)));
    expect(errorsOf(report)).toEqual(['export.MANIFEST_MISSING', 'export.RESOURCE_MISSING']);
  });

  test('ends with the reason of an aborted signal while its container is read', async () => {
    const source = zipSource(await openZip(memoryAccess(zip)));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(verifyExport(source, { asOfMs: NOW, signal })).rejects.toThrow('enough');
  });
});
