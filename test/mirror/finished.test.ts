import { access, chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkMirror, type MirrorEvent } from '../../src/mirror/index.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { parseReceipt } from '../../src/evidence/export/receipt.ts';
import { failureOf, testClient } from '../client/make.ts';
import { exportRef, makeExport, type Fault } from '../faults/export-source.ts';
import { envelope, json } from '../faults/server.ts';
import { cleanUp, filesOf, mirror, newFolder, source } from './make.ts';

afterEach(cleanUp);
const made = makeExport();
const [PART = ''] = made.files.keys();
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
const deletion = { state: 'deleting', version: 1, operationId: 'op_000000000001', requestedAtMs: 1 } as const;
const gone: Fault = ({ response }) => {
  envelope(response, 410, 'control.EVIDENCE_DELETED');
  return true;
};
/** The resource can still be read, and says that the export is being deleted; nothing else can. */
const leaving: Fault = (request) => {
  if (request.path !== 'export.json') return gone(request);
  json(request.response, 200, { ...made.resource, deletion });
  return true;
};

/** A clock that only sleeping moves. */
const clock = () => {
  let nowMs = 0;
  const slept: number[] = [];
  const sleep = (ms: number): Promise<void> => {
    slept.push(ms);
    nowMs += ms;
    return Promise.resolve();
  };
  return { slept, now: () => nowMs, sleep };
};
const broken: Fault = ({ path, response }) => {
  if (path !== 'export-attestation.json') return false;
  envelope(response, 500, 'control.STORED_BYTES_CORRUPT');
  return true;
};

it('a complete mirror is verified again without a lock and without private files', async () => {
  const folder = await newFolder();
  const server = await source(made);
  await mirror(server, folder);
  const traces: Promise<boolean>[] = [];
  const { events } = await mirror(server, folder, {
    onProgress: ({ type }) => {
      if (type === 'looked' || type === 'part-done') traces.push(isThere(join(folder, '.drillproof-mirror')));
    },
  });
  expect(events.filter(({ type }) => type === 'looked')).toHaveLength(made.files.size);
  expect(await Promise.all(traces)).not.toContain(true);
  expect(await isThere(join(folder, '.drillproof-mirror'))).toBe(false);
});

it('a complete mirror loses the private files of a killed run when it is run again', async () => {
  const folder = await newFolder();
  const server = await source(made);
  await mirror(server, folder);
  const target = await mirrorDirectory(folder).open();
  await target.writeClaim(
    new TextEncoder().encode(
      JSON.stringify({ evidenceExportId: exportRef.evidenceExportId, manifestDigest: made.manifestDigest }),
    ),
  );
  await target.close();
  expect(await isThere(join(folder, '.drillproof-mirror'))).toBe(true);
  await mirror(server, folder);
  expect(await isThere(join(folder, '.drillproof-mirror'))).toBe(false);
});

describe('an export that is deleted at its source', () => {
  it.each([
    ['says 410 to everything', gone],
    ['still shows its resource', leaving],
  ])('stays complete from the files in the target if the source %s', async (_, fault) => {
    const folder = await newFolder();
    await mirror(await source(made), folder);
    const before = await filesOf(folder);
    const { receipt, events } = await mirror(await source(made, fault), folder);
    expect(receipt).toMatchObject({ outcome: 'complete', manifestFrom: 'target', failures: [] });
    expect(events.some(({ type }) => type === 'source-deleted')).toBe(true);
    const after = await filesOf(folder);
    for (const [path, bytes] of before) expect(after.get(path), path).toEqual(bytes);
    for (const [path, bytes] of after) if (path.startsWith('receipts/')) parseReceipt(bytes);
  });

  it('is incomplete if a file is missing in the target, and nothing is removed', async () => {
    const folder = await newFolder();
    await mirror(await source(made), folder);
    await rm(join(folder, PART));
    const failure = await failureOf(mirror(await source(made, gone), folder));
    expect(failure).toMatchObject({ code: 'mirror.SOURCE_INCOMPLETE' });
    expect(failure.details?.['failures']).toEqual([
      expect.objectContaining({ path: PART, code: 'control.EVIDENCE_DELETED' }),
    ]);
    expect((await filesOf(folder)).size).toBeGreaterThan(made.files.size);
  });

  it.each([
    ['the target is empty', () => Promise.resolve()],
    [
      'the manifest in the target is damaged',
      (folder: string) => writeFile(join(folder, 'manifest.json'), '{'),
    ],
  ])('cannot be mirrored if %s', async (what, damage) => {
    const folder = join(await newFolder(), 'x');
    if (what !== 'the target is empty') await mirror(await source(made), folder);
    await damage(folder);
    expect(await failureOf(mirror(await source(made, gone), folder))).toMatchObject({
      code: 'control.EVIDENCE_DELETED',
    });
  });

  it('is export.CHANGED if its resource and the target name different manifests', async () => {
    const folder = await newFolder();
    await mirror(await source(made), folder);
    const other = makeExport({ seed: 2 });
    const server = await source({ ...other, resource: { ...other.resource, deletion } });
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'export.CHANGED' });
  });

  it('must still have the manifest that the caller expects', async () => {
    const folder = await newFolder();
    await mirror(await source(made), folder);
    const expectManifest = makeExport({ seed: 2 }).manifestDigest;
    expect(await failureOf(mirror(await source(made, gone), folder, { expectManifest }))).toMatchObject({
      code: 'expect.MANIFEST_MISMATCH',
    });
  });
});

describe('a mirror that waits', () => {
  const { manifestDigest: _digest, manifestBytes: _bytes, ...unfinished } = made.resource;
  const after =
    (looks: number, state: 'generating' | 'failed' = 'generating'): Fault =>
    ({ path, response, n }) => {
      if (path !== 'export.json' || n >= looks) return false;
      const failed = state === 'failed' && { failureCode: 'control.EXPORT_TOO_LARGE' };
      json(response, 200, { ...unfinished, state, ...failed });
      return true;
    };
  it('continues when the export is generated, with growing delays', async () => {
    const { slept, ...time } = clock();
    const { receipt, events } = await mirror(await source(made, after(6)), await newFolder(), {
      waitMs: 60_000,
      ...time,
    });
    expect(receipt.outcome).toBe('complete');
    expect(slept).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    expect(events.filter(({ type }) => type === 'waiting')).toHaveLength(6);
  });

  it('uses the delay that the control plane asks for', async () => {
    const { slept, ...time } = clock();
    const server = await source(made, ({ path, response, n }) => {
      if (path !== 'export.json' || n > 0) return false;
      envelope(response, 409, 'control.EXPORT_NOT_READY', { retryable: true, retryAfterMs: 9_000 });
      return true;
    });
    await mirror(server, await newFolder(), { waitMs: 60_000, ...time });
    expect(slept).toEqual([9_000]);
  });

  it('ends after its time, and at once without a time', async () => {
    const { slept: _, ...time } = clock();
    const server = await source(made, after(1_000));
    const folder = await newFolder();
    expect(await failureOf(mirror(server, folder, { waitMs: 10_000, ...time }))).toMatchObject({
      code: 'mirror.WAIT_EXCEEDED',
    });
    expect(await failureOf(mirror(server, folder))).toMatchObject({ code: 'export.NOT_AVAILABLE' });
    expect(await filesOf(folder)).toEqual(new Map());
  });

  it('reports why an export failed', async () => {
    const server = await source(made, after(1_000, 'failed'));
    const failure = await failureOf(mirror(server, await newFolder(), { waitMs: 60_000 }));
    expect(failure).toMatchObject({
      code: 'mirror.EXPORT_FAILED',
      details: { failureCode: 'control.EXPORT_TOO_LARGE' },
    });
  });

  it('ends when the caller aborts it', async () => {
    const stop = new AbortController();
    const server = await source(made, after(1_000));
    const work = mirror(server, await newFolder(), {
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
  const check = async (folder: string, fault?: Fault, events: MirrorEvent[] = []) =>
    checkMirror(exportRef, {
      client: testClient((await source(made, fault)).url).client,
      to: mirrorDirectory(folder),
      onProgress: (event) => void events.push(event),
    });

  it('accepts a complete mirror and writes nothing', async () => {
    const folder = await newFolder();
    await mirror(await source(made), folder);
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
    expect(await isThere(folder)).toBe(false);
  });

  it.each([...made.files.keys(), 'manifest.json', 'export.json', 'export-attestation.json', 'SHA256SUMS'])(
    'detects that %s is missing or damaged',
    async (path) => {
      const folder = await newFolder();
      await mirror(await source(made), folder);
      const bytes = await readFile(join(folder, path));
      await writeFile(join(folder, path), bytes.fill(0, 3, 4));
      const damaged = (await check(folder)).faults;
      expect(damaged).toEqual([expect.objectContaining({ path, found: 'damaged' })]);
      await rm(join(folder, path));
      expect((await check(folder)).faults).toEqual([expect.objectContaining({ path, found: 'missing' })]);
    },
  );

  it('refuses a folder with something else, and an export that changed', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'thesis.txt'), 'mine');
    expect(await failureOf(check(folder))).toMatchObject({ code: 'mirror.TARGET_FOREIGN' });
    const changed = await newFolder();
    await mirror(await source(makeExport({ seed: 2 })), changed);
    expect(await failureOf(check(changed))).toMatchObject({ code: 'export.CHANGED' });
  });

  it('fails if the attestation cannot be fetched', async () => {
    const folder = await newFolder();
    expect(await failureOf(check(folder, broken))).toMatchObject({ code: 'control.STORED_BYTES_CORRUPT' });
  });
});
