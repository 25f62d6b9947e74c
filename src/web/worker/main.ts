import * as z from 'zod/mini';
import { createPartContext } from '../../verify/part/context.ts';
import { type Settings, resolveSettings } from '../../verify/options.ts';
import { walkPart } from '../../verify/part/part.ts';
import {
  type Ask,
  type Describe,
  packFailure,
  type StartHelper,
  type HelperSettings,
  type PartAnswer,
  type PartJob,
  type WorkerMessage,
  type Start,
} from './messages.ts';
import { describeKeys, verifyRequest, type VerifiedRequest } from './verify-request.ts';
import { defined } from '../../bytes/arguments.ts';
import { trustStore } from '../../trust/store.ts';
import { openBlob, type Spare } from '../blob-access.ts';

z.config({ jitless: true }); // the page forbids eval

const post = (message: WorkerMessage): void => postMessage(message);

/** The interval at which reads are reported to the page. */
const READ_INTERVAL_MS = 100;
let unreported = 0;
let reportedAt = 0;

function countRead(bytes: number): void {
  unreported += bytes;
  const now = performance.now();
  if (now - reportedAt < READ_INTERVAL_MS) return;
  post({ kind: 'read', bytes: unreported });
  unreported = 0;
  reportedAt = now;
}

let result: VerifiedRequest | undefined;

addEventListener('message', ({ data }: MessageEvent<Start | StartHelper | Ask | Describe>) => {
  if (data.kind === 'helper') serveParts(data.port);
  else if (data.kind === 'start') void start(data);
  else if (data.kind === 'describe') describe(data);
  else if (result !== undefined) void answer(data, result);
});

async function answer({ row }: Ask, { writeFile, lookInside }: VerifiedRequest): Promise<void> {
  if (typeof row === 'number') return post({ kind: 'inside', html: (await lookInside?.(row)) ?? '' });
  post({ kind: 'file', extension: row, blob: new Blob([...writeFile[row]()]) });
}

function describe({ file }: Describe): void {
  try {
    post({ kind: 'keys', html: describeKeys(file) });
  } catch (error) {
    post({ kind: 'failed', failure: packFailure(error) });
  }
}

async function start({ request, ports }: Start): Promise<void> {
  let reportedPartAt = 0;
  try {
    result = await verifyRequest(request, {
      ports,
      onRead: countRead,
      onOpen: (bytes) => post({ kind: 'opened', bytes }),
      onProgress(event) {
        if (event.kind === 'planned') return post({ kind: 'planned', parts: event.parts });
        const now = performance.now();
        if (event.done < event.of && now - reportedPartAt < READ_INTERVAL_MS) return;
        reportedPartAt = now;
        post({ kind: 'part', done: event.done });
      },
    });
    const { verified, lookInside } = result;
    post({ kind: 'done', verified, isOpen: lookInside !== undefined });
  } catch (error) {
    post({ kind: 'failed', failure: packFailure(error) });
  }
}

/** Verifies the parts that arrive at the port, one after the other. */
function serveParts(port: MessagePort): void {
  let settings: Settings | undefined;
  let last = Promise.resolve();
  port.addEventListener('message', ({ data }: MessageEvent<HelperSettings | readonly PartJob[] | 'end'>) => {
    if (data === 'end') return close();
    if ('asOfMs' in data) {
      const { asOfMs, trusted } = data;
      settings = resolveSettings({ asOfMs, ...defined({ trust: trusted && trustStore(...trusted) }) });
      return;
    }
    last = last.then(async () => {
      // The parts of a batch are small. Together they wait less for Web Crypto, which works in other threads.
      port.postMessage(await Promise.all(data.map((job) => answerJob(job, settings!))));
    });
  });
  port.start();
}

/** A batch has at most one part that is read into it: see `BATCH_BYTES`. */
const spare: Spare = {};

async function answerJob({ id, path, blob, listed }: PartJob, settings: Settings): Promise<PartAnswer> {
  try {
    const access = openBlob(blob, { path, onRead: countRead }, spare);
    const { report } = await walkPart(access, createPartContext(settings, { listed }));
    return { id, report };
  } catch (error) {
    return { id, failure: packFailure(error) };
  }
}
