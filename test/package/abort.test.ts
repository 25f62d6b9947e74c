import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { memoryAccess, type RandomAccess } from '../../src/bytes/random-access.ts';
import { createClient } from '../../src/client/client.ts';
import { downloadPart } from '../../src/client/download-part.ts';
import type { ClientOptions } from '../../src/client/options.ts';
import { DrillproofError, TransportError } from '../../src/errors.ts';
import { memorySource, type EvidenceSource } from '../../src/evidence/source.ts';
import { readPartFacts } from '../../src/evidence/bundle/part.ts';
import { discoverExports, mirrorMany } from '../../src/mirror/archive.ts';
import { mirrorExport } from '../../src/mirror/mirror.ts';
import { replicaClient } from '../../src/mirror/replica.ts';
import { mirrorDirectory } from '../../src/node/volume/mirror.ts';
import { zipExport } from '../../src/node/evidence/yazl-export.ts';
import { scrubMany } from '../../src/scrub/mirror.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import { verifyReceipts } from '../../src/verify/receipts/receipts.ts';
import { exportRef as servedRef } from '../faults/export-source.ts';
import { exportRef, extended, HASH, partRef, TOKEN } from '../client/make.ts';
import { makeExport, NOW } from '../support/evidence.ts';
import { makeFolder } from '../support/folder.ts';
import { makePlace } from './scrub-place.ts';

/** The signal to pass on, and a function to call when the work has begun to read. */
type Task = { readonly signal: AbortSignal; readonly reading: () => void };

const { files } = await makeExport();
const folder = await makeFolder();

const createTestClient = (fetch: NonNullable<ClientOptions['fetch']>) =>
  createClient({ baseUrl: 'https://drills.example', token: TOKEN, fetch });

/** A client whose server never answers. */
const createSilentClient = ({ reading }: Task) =>
  createTestClient(() => {
    reading();
    return new Promise(() => undefined);
  });

/** A client whose answers have a body that never ends, so it is not requested again. */
const createHaltingClient = ({ reading }: Task) => {
  const pull: UnderlyingDefaultSource['pull'] = (body) => {
    body.enqueue(new Uint8Array([123]));
    reading();
  };
  return createTestClient(() =>
    Promise.resolve(new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))),
  );
};

const running = { ...extended.operation, state: 'running' };
const createPollingClient = ({ reading }: Task) =>
  createTestClient(() => {
    setTimeout(reading, 5);
    return Promise.resolve(Response.json(running));
  });

const drain = async (bytes: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of bytes);
};

function partOf({ reading }: Task): RandomAccess {
  const part = memoryAccess(files['parts/evidence_000000000001.zip']!);
  const readRange: typeof part.read = (...range) => {
    reading();
    return part.read(...range);
  };
  return { size: part.size, read: readRange };
}

function sourceOf({ reading }: Task): EvidenceSource {
  const source = memorySource(files);
  const open: EvidenceSource['open'] = (path) => {
    reading();
    return source.open(path);
  };
  return { ...source, open };
}

const placeOf = (task: Task) => makePlace(sourceOf(task));

const mirrorOptions = (task: Task) => ({
  client: replicaClient(sourceOf(task), 'memory:'),
  to: mirrorDirectory(join(folder, String(Math.random()))),
  signal: task.signal,
});
const scrubOptions = ({ signal }: Task) => ({ tool: 'test', now: () => NOW, signal });

/** Every public function that takes a signal and reads or waits, and those about many mirrors. */
const FUNCTIONS: Readonly<Record<string, (task: Task) => Promise<unknown>>> = {
  'a method of the client': (task) => createSilentClient(task).evidence.exports.read(exportRef, task),
  'a method of the client, in the body': (task) =>
    createHaltingClient(task).evidence.exports.read(exportRef, task),
  'client.download': (task) =>
    createSilentClient(task).download('evidence.exports.manifest', exportRef, task),
  'the body of client.download': async (task) =>
    drain((await createHaltingClient(task).download('evidence.exports.manifest', exportRef, task)).body),
  'client.localReports': (task) => drain(createSilentClient(task).localReports(exportRef, task)),
  'client.exports': (task) => drain(createSilentClient(task).exports(exportRef.projectId, task)),
  'client.operations.wait': (task) =>
    createPollingClient(task).operations.wait(
      { projectId: exportRef.projectId, operationId: running.operationId },
      { signal: task.signal },
    ),
  'client.backOff': (task) => {
    const { signal } = task;
    if (!signal.aborted) queueMicrotask(task.reading); // the random wait can be short
    return createSilentClient(task).backOff(new TransportError('transport.TIMEOUT', 'x'), 3, { signal });
  },
  downloadPart: (task) =>
    downloadPart(createHaltingClient(task), { ...partRef, digest: HASH, bytes: '9' }, new WritableStream(), {
      signal: task.signal,
    }),
  discoverExports: (task) =>
    discoverExports(createSilentClient(task), exportRef.projectId, { signal: task.signal }),
  'mirrorExport from a control plane': (task) =>
    mirrorExport(exportRef, { ...mirrorOptions(task), client: createSilentClient(task) }),
  'mirrorExport from a mirror': (task) => mirrorExport(servedRef, mirrorOptions(task)),
  mirrorMany: (task) =>
    mirrorMany(
      Array.from({ length: 3 }, () => exportRef),
      async () => {
        task.reading();
        throw new DrillproofError('export.CHANGED', 'this error does not end the run');
      },
      { atOnce: 1, signal: task.signal },
    ),
  verifyExport: (task) => verifyExport(sourceOf(task), { asOfMs: NOW, signal: task.signal }),
  readPartFacts: (task) => readPartFacts(partOf(task), {}, task.signal),
  verifyPart: (task) => verifyPart(partOf(task), { asOfMs: NOW, signal: task.signal }),
  zipExport: ({ signal, reading }) => {
    const open = async function* () {
      reading();
      yield new Uint8Array(1);
    };
    const out = new Writable({ write: (_chunk, _encoding, done) => done() });
    return zipExport([{ path: 'a', bytes: 1, open }], out, { signal });
  },
  verifyReceipts: (task) => verifyReceipts(sourceOf(task), { signal: task.signal }),
  scrubMany: (task) =>
    scrubMany({ mirrors: ['a'], open: () => placeOf(task) }, scrubOptions(task), () => Promise.resolve()),
};

// Without a signal, the last two would be retried, or recorded as the failure of one file.
const REASONS: readonly unknown[] = [
  'a word',
  new Error('enough'),
  new TransportError('transport.TIMEOUT', 'the time of the caller is over'),
  new DrillproofError('io.UNREADABLE', 'the disk of the caller is gone'),
];

describe.each(Object.entries(FUNCTIONS))('%s', (_, start) => {
  test.each(REASONS)(
    'rejects with the reason %s of a signal aborted before the call, reading nothing',
    async (reason) => {
      let reads = 0;
      const work = start({ signal: AbortSignal.abort(reason), reading: () => void reads++ });
      await expect(work).rejects.toBe(reason);
      expect(reads).toBe(0);
    },
  );

  test.each(REASONS)('rejects with the reason %s of a signal aborted while it reads', async (reason) => {
    const stop = new AbortController();
    const work = start({ signal: stop.signal, reading: () => stop.abort(reason) });
    await expect(work).rejects.toBe(reason);
  });
});
