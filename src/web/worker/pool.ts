import { DrillproofError } from '../../errors.ts';
import type { BundleReport } from '../../verify/index.ts';
import { BLOCK_BYTES, HOLD_BYTES } from '../blob-access.ts';
import type { HelperSettings, PartAnswer, PartJob } from './messages.ts';

type Waiting = {
  readonly resolve: (report: BundleReport) => void;
  readonly reject: (error: unknown) => void;
};

/** A message costs about as much as a small part, so that they go out in batches of about this size. */
const BATCH_BYTES = 2 ** 20;
const BATCH_PARTS = 16;
/** Batches that a helper has waiting, so that it never waits itself. */
const BATCHES_AHEAD = 2;

/** The memory that a part takes while it is verified. */
const memoryOf = ({ blob: { size } }: PartJob): number => (size > HOLD_BYTES ? BLOCK_BYTES : size);

/**
 * Parts that are verified by other workers. Every part gets an answer, in any order. Once the parts that helpers have
 * take `HOLD_BYTES` of memory, the others wait.
 */
export function createPortPool(
  ports: readonly MessagePort[],
  settings: HelperSettings,
): { verify(job: Omit<PartJob, 'id'>): Promise<BundleReport> } {
  const waiting = new Map<number, Waiting>();
  const queue: PartJob[] = [];
  const helpers = ports.map((port) => ({ port, batches: [] as number[] }));
  let held = 0;
  let next = 0;
  let scheduled = false;
  const dispatch = (): void => {
    scheduled = false;
    for (let ahead = 0; ahead < BATCHES_AHEAD; ahead++)
      for (const helper of helpers) {
        if (queue.length === 0 || held >= HOLD_BYTES) return;
        if (helper.batches.length > ahead) continue;
        const batch = takeBatch(queue);
        const bytes = batch.reduce((sum, job) => sum + memoryOf(job), 0);
        helper.batches.push(bytes);
        held += bytes;
        helper.port.postMessage(batch);
      }
  };
  for (const helper of helpers) {
    helper.port.addEventListener('message', ({ data }: MessageEvent<readonly PartAnswer[]>) => {
      held -= helper.batches.shift() ?? 0;
      for (const answer of data) settle(waiting, answer);
      dispatch();
    });
    helper.port.start();
    helper.port.postMessage(settings);
  }
  return {
    verify: (job) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        queue.push({ ...job, id });
        if (!scheduled) queueMicrotask(dispatch);
        scheduled = true;
      }),
  };
}

function takeBatch(queue: PartJob[]): PartJob[] {
  let bytes = 0;
  let parts = 0;
  while (parts < queue.length && parts < BATCH_PARTS && bytes < BATCH_BYTES)
    bytes += queue[parts++]!.blob.size;
  return queue.splice(0, parts);
}

function settle(waiting: Map<number, Waiting>, answer: PartAnswer): void {
  const { resolve, reject } = waiting.get(answer.id)!;
  waiting.delete(answer.id);
  if ('report' in answer) return resolve(answer.report);
  const { code, message, path } = answer.failure;
  reject(new DrillproofError(code, message, path === undefined ? {} : { path }));
}
