import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkMirror } from '../../src/mirror/check.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { parseReceipt } from '../../src/evidence/export/receipt.ts';
import { failureOf, testClient } from '../client/make.ts';
import { answerAt, exportRef, makeExport, refuse, type Fault } from '../faults/export-source.ts';
import { envelope, json } from '../faults/server.ts';
import { cleanUp, filesOf, makeClock, makeMirror, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);
const sample = makeExport();
const other = makeExport({ seed: 2 });
const [PART = ''] = sample.files.keys();
const deletion = { state: 'deleting', version: 1, operationId: 'op_000000000001', requestedAtMs: 1 } as const;
const deleted = refuse(/./, 410, 'control.EVIDENCE_DELETED');
/** Only the resource can still be read. It states that the export is being deleted. */
const deleting: Fault = (request) => {
  if (request.path !== 'export.json') return deleted(request);
  json(request.response, 200, { ...sample.resource, deletion });
  return true;
};

it('a complete mirror is verified again without a lock and without private files', async () => {
  const { folder, server } = await makeMirror();
  const traces: boolean[] = [];
  const { events } = await mirror(server, folder, {
    onProgress: ({ type }) => {
      if (type === 'looked' || type === 'part-done')
        traces.push(existsSync(join(folder, '.drillproof-mirror')));
    },
  });
  expect(events.filter(({ type }) => type === 'looked')).toHaveLength(sample.files.size);
  expect(traces).not.toContain(true);
  expect(existsSync(join(folder, '.drillproof-mirror'))).toBe(false);
});

it('a complete mirror loses the private files of a killed run when it is run again', async () => {
  const { folder, server } = await makeMirror();
  const target = await mirrorDirectory(folder).open();
  const { manifestDigest, id: evidenceExportId } = sample;
  await target.writeClaim(Buffer.from(JSON.stringify({ evidenceExportId, manifestDigest })));
  await target.close();
  expect(existsSync(join(folder, '.drillproof-mirror'))).toBe(true);
  await mirror(server, folder);
  expect(existsSync(join(folder, '.drillproof-mirror'))).toBe(false);
});

describe('an export that is deleted at its source', () => {
  it.each([
    ['answers 410 to everything', deleted],
    ['still serves its resource', deleting],
  ])('stays complete from the files in the target if the source %s', async (_, fault) => {
    const { folder } = await makeMirror();
    const before = await filesOf(folder);
    const { receipt, events } = await mirror(await source(sample, fault), folder);
    expect(receipt).toMatchObject({ outcome: 'complete', manifestFrom: 'target', failures: [] });
    expect(events.some(({ type }) => type === 'source-deleted')).toBe(true);
    const after = await filesOf(folder);
    for (const [path, bytes] of before) expect(after.get(path), path).toEqual(bytes);
    for (const [path, bytes] of after) if (path.startsWith('receipts/')) parseReceipt(bytes);
  });

  it('is incomplete if a file is missing in the target, and nothing is removed', async () => {
    const { folder } = await makeMirror();
    await rm(join(folder, PART));
    expect(await failureOf(mirror(await source(sample, deleted), folder))).toMatchObject({
      code: 'mirror.SOURCE_INCOMPLETE',
      details: { failures: [{ path: PART, code: 'control.EVIDENCE_DELETED' }] },
    });
    expect((await filesOf(folder)).size).toBeGreaterThan(sample.files.size);
  });

  it('cannot be mirrored if the target is empty or its manifest is damaged', async () => {
    const { folder } = await makeMirror();
    await writeFile(join(folder, 'manifest.json'), '{');
    const server = await source(sample, deleted);
    for (const target of [folder, join(await newFolder(), 'absent')])
      expect(await failureOf(mirror(server, target))).toMatchObject({ code: 'control.EVIDENCE_DELETED' });
  });

  it('is export.CHANGED if its resource and the target name different manifests', async () => {
    const { folder } = await makeMirror();
    const server = await source({ ...other, resource: { ...other.resource, deletion } });
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'export.CHANGED' });
  });

  it('must still have the manifest that the caller expects', async () => {
    const { folder } = await makeMirror();
    const work = mirror(await source(sample, deleted), folder, { expectManifest: other.manifestDigest });
    expect(await failureOf(work)).toMatchObject({ code: 'expect.MANIFEST_MISMATCH' });
  });
});

describe('a mirror that waits', () => {
  const { manifestDigest: _digest, manifestBytes: _bytes, ...unfinished } = sample.resource;
  /** A source whose export is unfinished in the first answers. */
  const sourceAfter = (answers: number, change: object = { state: 'generating' }) =>
    source(
      sample,
      answerAt('export.json', ({ response }) => json(response, 200, { ...unfinished, ...change }), answers),
    );

  it('continues when the export is generated, with growing delays', async () => {
    const { slept, ...clock } = makeClock();
    const options = { waitMs: 60_000, ...clock };
    const { receipt, events } = await mirror(await sourceAfter(6), await newFolder(), options);
    expect(receipt.outcome).toBe('complete');
    expect(slept).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    expect(events.filter(({ type }) => type === 'waiting')).toHaveLength(6);
  });

  it('uses the delay that the control plane asks for', async () => {
    const { slept, ...clock } = makeClock();
    const delay = { retryable: true, retryAfterMs: 9_000 };
    const notReady = ({ response }: Parameters<Fault>[0]): void =>
      envelope(response, 409, 'control.EXPORT_NOT_READY', delay);
    await makeMirror(sample, { waitMs: 60_000, ...clock }, answerAt('export.json', notReady, 1));
    expect(slept).toEqual([9_000]);
  });

  it('ends after its time, and at once without a time', async () => {
    const { slept: _, ...clock } = makeClock();
    const server = await sourceAfter(1_000);
    const folder = await newFolder();
    const work = mirror(server, folder, { waitMs: 10_000, ...clock });
    expect(await failureOf(work)).toMatchObject({ code: 'mirror.WAIT_EXCEEDED' });
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'export.NOT_AVAILABLE' });
    expect(await filesOf(folder)).toEqual(new Map());
  });

  it('reports why an export failed', async () => {
    const details = { failureCode: 'control.EXPORT_TOO_LARGE' };
    const server = await sourceAfter(1_000, { state: 'failed', ...details });
    const failure = await failureOf(mirror(server, await newFolder(), { waitMs: 60_000 }));
    expect(failure).toMatchObject({ code: 'mirror.EXPORT_FAILED', details });
  });

  it('ends when the caller aborts it', async () => {
    const stop = new AbortController();
    const work = mirror(await sourceAfter(1_000), await newFolder(), {
      waitMs: 60_000,
      signal: stop.signal,
      sleep: (_ms, signal) => {
        stop.abort('enough');
        return Promise.reject(signal?.reason);
      },
    });
    await expect(work).rejects.toBe('enough');
  });
});

describe('checkMirror', () => {
  const check = async (folder: string, fault?: Fault) =>
    checkMirror(exportRef, {
      client: testClient((await source(sample, fault)).url).client,
      to: mirrorDirectory(folder),
    });

  it('accepts a complete mirror and writes nothing', async () => {
    const { folder } = await makeMirror();
    const before = await filesOf(folder);
    await chmod(folder, 0o555);
    expect(await check(folder)).toMatchObject({ outcome: 'complete', faults: [], files: 8 });
    await chmod(folder, 0o755);
    expect(await filesOf(folder)).toEqual(before);
  });

  it('lists every file of a missing mirror, and creates no folder', async () => {
    const folder = join(await newFolder(), 'absent');
    const { outcome, faults } = await check(folder);
    expect(outcome).toBe('incomplete');
    expect(faults).toHaveLength(8);
    expect(faults.every(({ found }) => found === 'missing')).toBe(true);
    expect(existsSync(folder)).toBe(false);
  });

  it.each([...sample.files.keys(), 'manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS'])(
    'detects that %s is missing or damaged',
    async (path) => {
      const { folder } = await makeMirror();
      const bytes = await readFile(join(folder, path));
      await writeFile(join(folder, path), bytes.fill(0, 3, 4));
      expect((await check(folder)).faults).toMatchObject([{ path, found: 'damaged' }]);
      await rm(join(folder, path));
      expect((await check(folder)).faults).toMatchObject([{ path, found: 'missing' }]);
    },
  );

  it('refuses a folder with something else, and an export that changed', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'thesis.txt'), 'mine');
    expect(await failureOf(check(folder))).toMatchObject({ code: 'mirror.TARGET_FOREIGN' });
    const changed = await makeMirror(other);
    expect(await failureOf(check(changed.folder))).toMatchObject({ code: 'export.CHANGED' });
  });

  it('fails if the attestation cannot be fetched', async () => {
    const fault = refuse('export-attestation.json', 500, 'control.STORED_BYTES_CORRUPT');
    const work = check(await newFolder(), fault);
    expect(await failureOf(work)).toMatchObject({ code: 'control.STORED_BYTES_CORRUPT' });
  });
});
