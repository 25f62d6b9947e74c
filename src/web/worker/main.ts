import * as z from 'zod/mini';
import { describeFailure, helpAt } from './helper.ts';
import type { BundleReport } from '../../verify/index.ts';
import type { Ask, Help, Progress, Start } from './messages.ts';
import { viewPartDetails } from './view.ts';
import { verifyRequest } from './verify-request.ts';

z.config({ jitless: true }); // the page forbids code from text

const post = (message: Progress): void => postMessage(message);

/** Reads are reported to the page this often. */
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

let parts: readonly BundleReport[] = [];

addEventListener('message', ({ data }: MessageEvent<Start | Help | Ask>) => {
  if (data.kind === 'help') helpAt(data.port, countRead);
  else if (data.kind === 'start') void start(data);
  else post({ kind: 'details', part: data.part, html: viewPartDetails(parts[data.part]!) });
});

async function start({ request, ports }: Start): Promise<void> {
  let reportedPartAt = 0;
  try {
    const result = await verifyRequest(request, {
      ports,
      onRead: countRead,
      onProgress(event) {
        if (event.kind === 'planned') return post(event);
        const now = performance.now();
        if (event.done < event.of && now - reportedPartAt < READ_INTERVAL_MS) return;
        reportedPartAt = now;
        post({ kind: 'part', done: event.done });
      },
    });
    ({ parts } = result);
    post({ kind: 'done', verified: result.verified });
  } catch (error) {
    post({ kind: 'failed', failure: describeFailure(error) });
  }
}
