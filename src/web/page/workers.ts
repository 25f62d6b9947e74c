import { countBytes } from '../sources.ts';
import type {
  Ask,
  Describe,
  StartHelper,
  KeyFile,
  WorkerMessage,
  Request,
  Start,
} from '../worker/messages.ts';
import { explainFailure } from './elements.ts';

declare const WORKER_CODE: string;
let workerUrl: string | undefined;

/** Workers that verify parts; more need memory and gain little. */
const MAX_HELPERS = 8;
/** Below this size, one worker is done before others have started. */
const SMALL_BYTES = 4 * 2 ** 20;
/** From here on the first worker mostly waits for the others, so that one more is worth its memory. */
const LARGE_BYTES = 64 * 2 ** 20;

export type Session = {
  /** Requests what is inside a row, or the whole report as a file, which arrive as progress. */
  ask(row: Ask['row']): void;
  /** Ends every worker at once. */
  end(): void;
};

/** Starts a worker. Its code is part of the page, so nothing is loaded. */
function startWorker(
  onProgress: (progress: WorkerMessage) => void,
  onError: (message: string) => void,
): Worker {
  workerUrl ??= URL.createObjectURL(new Blob([WORKER_CODE], { type: 'text/javascript' }));
  const worker = new Worker(workerUrl);
  worker.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => onProgress(data));
  worker.addEventListener('error', (event) => onError(event.message || 'the browser did not start a worker'));
  worker.addEventListener('messageerror', () => onError('a message between workers could not be read'));
  return worker;
}

/** What a file of keys contains, as items of a list in escaped HTML. @throws RangeError with a message for the user */
export async function requestKeyList(file: KeyFile): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const worker = startWorker(
      (progress) => {
        worker.terminate();
        if (progress.kind === 'keys') resolve(progress.html);
        if (progress.kind === 'failed') reject(new RangeError(explainFailure(progress.failure)));
      },
      (message) => reject(new RangeError(message)),
    );
    worker.postMessage({ kind: 'describe', file } satisfies Describe);
  });
}

/** Starts workers on a request. */
export function startSession(
  request: Request,
  onProgress: (progress: WorkerMessage) => void,
  onError: (message: string) => void,
): Session {
  const workers: Worker[] = [];
  let hasEnded = false;
  const start = (): Worker => {
    const worker = startWorker((progress) => {
      if (!hasEnded) onProgress(progress); // messages can arrive after a worker was ended
    }, onError);
    workers.push(worker);
    return worker;
  };
  const first = start();
  const ports = Array.from({ length: countHelpers(request) }, () => {
    const { port1, port2 } = new MessageChannel();
    start().postMessage({ kind: 'helper', port: port2 } satisfies StartHelper, [port2]);
    return port1;
  });
  first.postMessage({ kind: 'start', request, ports } satisfies Start, ports);
  return {
    ask: (row) => first.postMessage({ kind: 'ask', row } satisfies Ask),
    end() {
      hasEnded = true;
      for (const worker of workers) worker.terminate();
    },
  };
}

function countHelpers({ trees }: Request): number {
  const cores = navigator.hardwareConcurrency;
  const bytes = countBytes(trees);
  if (bytes < SMALL_BYTES || cores < 2) return 0;
  return Math.min(bytes < LARGE_BYTES ? cores - 1 : cores, MAX_HELPERS);
}
