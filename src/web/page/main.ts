import { count, countNoun } from '../../bytes/text/wording.ts';
import { size } from '../../report/text/page.ts';
import { escapeText } from '../../report/printable.ts';
import { countBytes } from '../sources.ts';
import type { Ask, Help, Progress, Request, Start, Verified } from '../worker/messages.ts';
import {
  explainError,
  explainFailure,
  getElement,
  makeElement,
  showElement,
  showMessage,
} from './elements.ts';
import { connectInputs, readRequest } from './inputs.ts';
import { connectPartsTable, showParts } from './parts-table.ts';

declare const WORKER_CODE: string;

/** Workers that verify parts; more need memory and gain little. */
const MAX_HELPERS = 8;
/** Below this size, one worker is done before others have started. */
const SMALL_BYTES = 4 * 2 ** 20;

type Session = {
  /** Requests the details of a part, which arrive as progress. */
  askPart(part: number): void;
  /** Ends every worker at once. */
  end(): void;
};

/** Starts workers on a request. Their code is part of the page, so nothing is loaded. */
function startSession(
  request: Request,
  onProgress: (progress: Progress) => void,
  onError: (message: string) => void,
): Session {
  const url = URL.createObjectURL(new Blob([WORKER_CODE], { type: 'text/javascript' }));
  const workers: Worker[] = [];
  let hasEnded = false;
  const startWorker = (): Worker => {
    const worker = new Worker(url);
    worker.addEventListener('message', ({ data }: MessageEvent<Progress>) => {
      if (!hasEnded) onProgress(data); // messages can arrive after a worker was ended
    });
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
      hasEnded = true;
      for (const worker of workers) worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

function countHelpers({ tree }: Request): number {
  const cores = navigator.hardwareConcurrency;
  return countBytes(tree) < SMALL_BYTES || cores < 2 ? 0 : Math.min(cores, MAX_HELPERS);
}

let session: Session | undefined;
let json = '';
let name = 'evidence';
const counts = { read: 0, bytes: 0, done: 0, parts: 0 };
const TITLE = document.title;

connectInputs(discardResult);
connectPartsTable((index) => session?.askPart(index));
getElement('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void beginVerification();
});
getElement('form', HTMLFormElement).noValidate = true;
getElement('cancel', HTMLButtonElement).addEventListener('click', () =>
  stop('Cancelled. There is no partial result.'),
);
getElement('save', HTMLButtonElement).addEventListener('click', saveJson);
getElement('print', HTMLButtonElement).addEventListener('click', () => print());

/** A result belongs to its inputs: a change of one removes it, and ends a verification of the old ones. */
function discardResult(): void {
  const wasRunning = !getElement('running', HTMLElement).hidden;
  session?.end();
  session = undefined;
  setRunning(false);
  showElement('result', false);
  getElement('report', HTMLElement).replaceChildren();
  document.title = TITLE;
  showMessage(wasRunning ? 'Cancelled, because the evidence, the keys or the options changed.' : undefined);
}

async function beginVerification(): Promise<void> {
  discardResult();
  let request;
  try {
    request = await readRequest(Date.now());
  } catch (error) {
    showMessage(explainError(error));
    return;
  }
  name = request.tree.name;
  Object.assign(counts, { read: 0, bytes: 0, done: 0, parts: 0 });
  setRunning(true);
  session = startSession(request, takeProgress, (message) =>
    stop(`The browser stopped a worker: ${escapeText(message)}`),
  );
}

function setRunning(isRunning: boolean): void {
  showElement('running', isRunning);
  showElement('cancel', isRunning);
  getElement('verify', HTMLButtonElement).disabled = isRunning;
  if (isRunning) showProgress();
}

function stop(message: string): void {
  session?.end();
  session = undefined;
  setRunning(false);
  showMessage(message);
}

function takeProgress(progress: Progress): void {
  if (progress.kind === 'done') return showResult(progress.verified);
  if (progress.kind === 'failed') return stop(explainFailure(progress.failure));
  if (progress.kind === 'details') return showDetails(progress.part, progress.html);
  if (progress.kind === 'read') counts.read += progress.bytes;
  if (progress.kind === 'opened') counts.bytes = progress.bytes;
  if (progress.kind === 'planned') counts.parts = progress.parts;
  if (progress.kind === 'part') counts.done = progress.done;
  showProgress();
}

/** Some blocks are read once more than planned, which is not shown. */
function showProgress(): void {
  const { bytes, done, parts } = counts;
  const read = Math.min(counts.read, bytes);
  getElement('progress', HTMLProgressElement).value = bytes === 0 ? 0 : Math.min(0.99, read / bytes);
  const finished = parts === 0 ? '' : `, ${count(done)} of ${countNoun(parts, 'part')} verified`;
  getElement('progress-text', HTMLElement).textContent =
    bytes === 0 ? 'Opening the evidence' : `${size(read)} of ${size(bytes)} read${finished}`;
}

function showResult(verified: Verified): void {
  ({ json } = verified);
  setRunning(false);
  getElement('report', HTMLElement).innerHTML = verified.view.sections.join(''); // already escaped
  getElement('warnings', HTMLElement).replaceChildren(...verified.keysInside.map(warnAboutKey));
  showParts(verified.view.parts);
  showElement('result', true);
  document.title = `${verified.view.title} - drillproof`;
  const result = getElement('result', HTMLElement);
  result.focus({ preventScroll: true });
  result.scrollIntoView(); // Firefox does not scroll to the focus
}

const warnAboutKey = (file: string): HTMLElement =>
  makeElement('p', {
    className: 'note bad',
    textContent: `The file ${escapeText(file)} is also inside the evidence. Use keys that you received separately: the sender of the evidence could have added their own.`,
  });

function showDetails(part: number, html: string): void {
  getElement('details-title', HTMLElement).textContent = `Part ${part + 1}`;
  const body = getElement('details-body', HTMLElement);
  body.innerHTML = html; // already escaped
  // The sections of the full report have the same ids.
  for (const element of body.querySelectorAll('[id]')) element.id = `part-${element.id}`;
  for (const element of body.querySelectorAll('[aria-labelledby]'))
    element.setAttribute('aria-labelledby', `part-${element.getAttribute('aria-labelledby')}`);
  getElement('details', HTMLDialogElement).showModal();
}

function saveJson(): void {
  const url = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  makeElement('a', { href: url, download: `${name.replace(/\.zip$/, '')}.report.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
