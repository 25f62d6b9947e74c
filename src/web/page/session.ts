import type { Ask, Help, Progress, Request, Start } from '../worker/messages.ts';

declare const WORKER_CODE: string;

/** Helpers that verify parts; more than this need memory and gain little. */
const MAX_HELPERS = 8;
/** Below this size one worker is done before others have started. */
const SMALL_BYTES = 4 * 2 ** 20;

export type Session = {
  /** Asks for one part in full; the answer comes as progress. */
  askPart(part: number): void;
  /** Ends every worker, in the middle of whatever it does. */
  end(): void;
};

/** Starts workers on a request. Their code is part of the page, so that nothing is loaded. */
export function startSession(
  request: Request,
  onProgress: (progress: Progress) => void,
  onError: (message: string) => void,
): Session {
  const url = URL.createObjectURL(new Blob([WORKER_CODE], { type: 'text/javascript' }));
  const workers: Worker[] = [];
  const startWorker = (): Worker => {
    const worker = new Worker(url);
    worker.addEventListener('message', ({ data }: MessageEvent<Progress>) => onProgress(data));
    worker.addEventListener('error', (event) =>
      onError(event.message || 'the browser did not start a worker'),
    );
    worker.addEventListener('messageerror', () => onError('a message between workers could not be read'));
    workers.push(worker);
    return worker;
  };
  const first = startWorker();
  const ports = Array.from({ length: countHelpers(request) }, () => {
    const { port1, port2 } = new MessageChannel();
    startWorker().postMessage({ kind: 'help', port: port2 } satisfies Help, [port2]);
    return port1;
  });
  first.postMessage({ kind: 'start', request, ports } satisfies Start, ports);
  return {
    askPart: (part) => first.postMessage({ kind: 'ask', part } satisfies Ask),
    end() {
      for (const worker of workers) worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

function countHelpers({ tree }: Request): number {
  const bytes = [...tree.files.values()].reduce((sum, file) => sum + file.size, 0);
  const cores = navigator.hardwareConcurrency;
  return bytes < SMALL_BYTES || cores < 2 ? 0 : Math.min(cores, MAX_HELPERS);
}
