import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { memoryAccess, type RandomAccess } from '../../src/bytes/random-access.ts';
import { createClient, downloadPart, type ClientOptions } from '../../src/client/index.ts';
import { DrillproofError, TransportError } from '../../src/errors.ts';
import { memorySource, readPartFacts, type EvidenceSource } from '../../src/evidence/index.ts';
import {
  checkMirror,
  discoverExports,
  mirrorExport,
  mirrorMany,
  replicaClient,
} from '../../src/mirror/index.ts';
import { mirrorDirectory, zipExport } from '../../src/node/index.ts';
import {
  repairMirror,
  scrubMany,
  scrubMirror,
  type MirrorScrub,
  type ScrubPlace,
} from '../../src/scrub/index.ts';
import { verifyExport, verifyPart, verifyReceipts } from '../../src/verify/index.ts';
import { exportRef as servedRef } from '../faults/export-source.ts';
import { exportRef, extended, HASH, partRef, TOKEN } from '../client/make.ts';
import { makeExport, NOW } from '../support/evidence.ts';
import { makeFolder } from '../support/folder.ts';

/** What a case gets: the signal to pass on, and what it calls when the work has begun to read. */
type Given = { readonly signal: AbortSignal; readonly reading: () => void };

const made = await makeExport();
const folder = await makeFolder();

const clientOf = (fetch: NonNullable<ClientOptions['fetch']>) =>
  createClient({ baseUrl: 'https://drills.example', token: TOKEN, fetch });

/** A client whose server never answers. */
const silent = ({ reading }: Given) =>
  clientOf(() => {
    reading();
    return new Promise(() => undefined);
  });

/** A client whose answers have a body that breaks off: what came first would have been repeated. */
const halting = ({ reading }: Given) => {
  const pull: UnderlyingDefaultSource['pull'] = (body) => {
    body.enqueue(new Uint8Array([123]));
    reading();
  };
  return clientOf(() => Promise.resolve(new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))));
};

const running = { ...extended.operation, state: 'running' };
const looking = ({ reading }: Given) =>
  clientOf(() => {
    setTimeout(reading, 5);
    return Promise.resolve(Response.json(running));
  });

const read = async (bytes: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of bytes);
};

function partOf({ reading }: Given): RandomAccess {
  const part = memoryAccess(made.files['parts/evidence_000000000001.zip']!);
  const readRange: typeof part.read = (...range) => {
    reading();
    return part.read(...range);
  };
  return { size: part.size, read: readRange };
}

function sourceOf({ reading }: Given): EvidenceSource {
  const source = memorySource(made.files);
  const open: EvidenceSource['open'] = (path) => {
    reading();
    return source.open(path);
  };
  return { ...source, open };
}

function placeOf(given: Given): ScrubPlace {
  return {
    name: 'evexp_000000000001',
    place: 'memory',
    journal: {
      read: () => Promise.resolve(Buffer.alloc(0)),
      append: () => Promise.resolve(),
      replace: () => Promise.resolve(),
    },
    look: async () => {
      const source = sourceOf(given);
      const files = (await source.files()).map((file) => [file.path, { ...file, identity: 'a' }] as const);
      return { source, files: new Map(files), unfinished: false };
    },
    sink: () => Promise.reject(new Error('nothing is written')),
    close: () => Promise.resolve(),
  };
}

const broken: MirrorScrub = {
  name: 'evexp_000000000001',
  outcome: 'damaged',
  files: 1,
  read: 1,
  readBytes: 1,
  young: 0,
  left: 0,
  leftBytes: 0,
  faults: [{ path: 'manifest.json', found: 'damaged', code: 'export.MANIFEST_INVALID', message: 'x' }],
};

const mirrorOptions = (given: Given) => ({
  client: replicaClient(sourceOf(given), 'memory:'),
  to: mirrorDirectory(join(folder, String(Math.random()))),
  signal: given.signal,
});
const scrubOptions = ({ signal }: Given) => ({ tool: 'test', now: () => NOW, signal });

/** Every public function that takes a signal and reads or waits. */
const FUNCTIONS: Readonly<Record<string, (given: Given) => Promise<unknown>>> = {
  'a method of the client': (given) => silent(given).evidence.exports.read(exportRef, given),
  'a method of the client, in the body': (given) => halting(given).evidence.exports.read(exportRef, given),
  'client.call': (given) => silent(given).call('evidence.exports.read', exportRef, given),
  'client.download': (given) => silent(given).download('evidence.exports.manifest', exportRef, given),
  'the body of client.download': async (given) =>
    read((await halting(given).download('evidence.exports.manifest', exportRef, given)).body),
  'client.localReports': (given) => read(silent(given).localReports(exportRef, given)),
  'client.exports': (given) => read(silent(given).exports(exportRef.projectId, given)),
  'client.operations.wait': (given) =>
    looking(given).operations.wait(
      { projectId: exportRef.projectId, operationId: running.operationId },
      { signal: given.signal },
    ),
  'client.backOff': (given) => {
    setTimeout(given.reading, 5);
    const { signal } = given;
    return silent(given).backOff(new TransportError('transport.TIMEOUT', 'x'), 3, { signal });
  },
  downloadPart: (given) =>
    downloadPart(halting(given), { ...partRef, digest: HASH, bytes: '9' }, new WritableStream(), {
      signal: given.signal,
    }),
  discoverExports: (given) => discoverExports(silent(given), exportRef.projectId, { signal: given.signal }),
  'mirrorExport from a control plane': (given) =>
    mirrorExport(exportRef, { ...mirrorOptions(given), client: silent(given) }),
  'mirrorExport from a mirror': (given) => mirrorExport(servedRef, mirrorOptions(given)),
  checkMirror: (given) => checkMirror(servedRef, mirrorOptions(given)),
  mirrorMany: (given) =>
    mirrorMany(
      Array.from({ length: 3 }, () => exportRef),
      async () => {
        given.reading();
        throw new DrillproofError('export.CHANGED', 'one that does not end the run');
      },
      { atOnce: 1, signal: given.signal },
    ),
  verifyExport: (given) => verifyExport(sourceOf(given), { asOfMs: NOW, signal: given.signal }),
  readPartFacts: (given) => readPartFacts(partOf(given), {}, given.signal),
  verifyPart: (given) => verifyPart(partOf(given), { asOfMs: NOW, signal: given.signal }),
  zipExport: ({ signal, reading }) => {
    const open = async function* () {
      reading();
      yield new Uint8Array(1);
    };
    const out = new Writable({ write: (_chunk, _encoding, done) => done() });
    return zipExport([{ path: 'a', bytes: 1, open }], out, { signal });
  },
  verifyReceipts: (given) => verifyReceipts(sourceOf(given), { signal: given.signal }),
  scrubMirror: (given) => scrubMirror(placeOf(given), scrubOptions(given)),
  scrubMany: (given) =>
    scrubMany({ mirrors: ['a'], open: () => placeOf(given) }, scrubOptions(given), () => Promise.resolve()),
  repairMirror: (given) =>
    repairMirror(
      placeOf(given),
      broken,
      () => Promise.resolve(replicaClient(sourceOf(given), 'memory:')),
      scrubOptions(given),
    ),
};

// The last two would be retried, or noted as the failure of one file, if they were not the reason of the signal.
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
