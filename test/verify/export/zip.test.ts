import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { memoryAccess, type RandomAccess } from '../../../src/bytes/random-access.ts';
import { zipSource } from '../../../src/evidence/index.ts';
import { zipExport } from '../../../src/node/evidence/yazl-export.ts';
import { openZip } from '../../../src/zip/index.ts';
import { verifyExport, type ExportReport } from '../../../src/verify/index.ts';
import {
  collect,
  errorsOf,
  faultyAccess,
  flipped,
  makeExport,
  makeTrust,
  NOW,
  pack,
  stateOf,
} from '../../support/evidence.ts';

const made = await makeExport();
const zip = await pack(Object.entries(made.files));

const verify = async (access: RandomAccess): Promise<ExportReport> =>
  verifyExport(zipSource(await openZip(access)), { asOfMs: NOW, trust: makeTrust(made.signer) });

describe('an export in one file', () => {
  test('is verified as the folder is, but for its container', async () => {
    const report = await verify(memoryAccess(zip));
    expect([report.verdict, report.findings, stateOf(report, 'export.container')]).toEqual([
      'verified',
      [],
      'passed',
    ]);
    expect(report.coverage.uncovered).toEqual([]);
  });

  test('is verified as it is written through yazl', async () => {
    const out = new PassThrough();
    const bytes = collect(out);
    const entries = Object.entries(made.files).map(([path, file]) => ({
      path,
      bytes: file.length,
      open: async function* () {
        yield file;
      },
    }));
    await zipExport(entries, out);
    expect((await verify(memoryAccess(await bytes))).verdict).toBe('verified');
  });

  test('is not verified with a byte flipped, unless no content changed', async () => {
    for (let offset = 0; offset < zip.length; offset += 31) {
      const forged = memoryAccess(flipped(zip, offset));
      const report = await verify(forged).catch((error: { code?: string }) => error.code ?? 'no code');
      if (typeof report === 'string')
        expect([offset, report]).toEqual([offset, expect.stringMatching(/^zip\./)]);
      else if (report.verdict !== 'failed')
        expect([offset, report.verdict, await contents(forged)]).toEqual([
          offset,
          'verified',
          await contents(memoryAccess(zip)),
        ]);
    }
  });

  test('is incomplete when any read fails after it was opened', async () => {
    const opened = faultyAccess(zip, -1);
    await openZip(opened);
    const opening = opened.reads;
    const sound = faultyAccess(zip, -1);
    await verify(sound);
    for (let n = opening; n < sound.reads; n++) {
      const report = await verify(faultyAccess(zip, n));
      expect([n, report.verdict]).toEqual([n, 'incomplete']);
    }
  });

  test('is not verified in a root folder of its own', async () => {
    const folder = await pack(
      Object.entries(made.files).map(([path, bytes]) => [`export/${path}`, bytes] as const),
    );
    expect(errorsOf(await verify(memoryAccess(folder)))).toEqual([
      'export.MANIFEST_MISSING',
      'export.RESOURCE_MISSING',
    ]);
  });

  test('ends with the reason of an aborted signal while its container is read', async () => {
    const source = zipSource(await openZip(memoryAccess(zip)));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(verifyExport(source, { asOfMs: NOW, signal })).rejects.toThrow('enough');
  });
});

async function contents(access: RandomAccess): Promise<[string, Uint8Array][]> {
  const archive = await openZip(access);
  const all: [string, Uint8Array][] = [];
  for (const entry of archive.entries) all.push([entry.name, await collect(archive.read(entry))]);
  return all;
}
