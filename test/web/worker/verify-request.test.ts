import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HOLD_BYTES } from '../../../src/web/blob-access.ts';
import type { PartAnswer, PartJob } from '../../../src/web/worker/messages.ts';
import { createPortPool } from '../../../src/web/worker/verify-request.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import type { Listing } from '../../../src/verify/part/context.ts';

test.each([
  ['as large as the memory of all parts waits until it is free', HOLD_BYTES, 1],
  ['a byte smaller goes out ahead', HOLD_BYTES - 1, 2],
  ['that is streamed goes out ahead', HOLD_BYTES + 1, 2],
])('the second part for a helper, if it is %s', async (_, size, ahead) => {
  const { port1, port2 } = new MessageChannel();
  const received: PartJob[] = [];
  port2.addEventListener('message', ({ data }: MessageEvent<object>) => {
    if (Array.isArray(data)) received.push(...(data as PartJob[]));
  });
  port2.start();
  const pool = createPortPool([port1], { asOfMs: 0 });
  const [blob, listed] = [{ size } as Blob, {} as Listing];
  const results = [1, 2, 3].map(() => pool.verify({ path: 'a', blob, listed }));
  await wait(20);
  expect(received).toHaveLength(ahead);
  for (let at = 0; at < results.length; at++) {
    while (received[at] === undefined) await wait(1);
    port2.postMessage([{ id: received[at]!.id, report: {} as BundleReport }] satisfies PartAnswer[]);
  }
  expect(await Promise.all(results)).toHaveLength(3);
  port1.close();
});
