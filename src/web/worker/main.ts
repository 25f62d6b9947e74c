import * as z from 'zod';
import { describeFailure, helpAt } from './helper.ts';
import type { Help, Progress, Start } from './messages.ts';
import { verifyRequest } from './verify-request.ts';

z.config({ jitless: true }); // the page forbids code from text

const post = (message: Progress): void => postMessage(message);

/** The page is told about reads this often. */
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

addEventListener('message', ({ data }: MessageEvent<Start | Help>) => {
  if (data.kind === 'help') helpAt(data.port, countRead);
  else void start(data);
});

async function start({ request, ports }: Start): Promise<void> {
  let reportedPartAt = 0;
  try {
    const verified = await verifyRequest(request, {
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
    post({ kind: 'done', verified });
  } catch (error) {
    post({ kind: 'failed', failure: describeFailure(error) });
  }
}
