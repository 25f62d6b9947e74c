import { count, countNoun, isoTime } from '../../bytes/text/wording.ts';
import { size } from '../../report/text/page.ts';
import { escapeText } from '../../report/printable.ts';
import type { FileKind, WorkerMessage, Verified } from '../worker/messages.ts';
import {
  explainError,
  explainFailure,
  getElement,
  makeElement,
  onClick,
  showElement,
  showMessage,
} from './elements.ts';
import { connectInputs, readRequest } from './inputs.ts';
import { startSession, type Session } from './workers.ts';

let session: Session | undefined;
/** Evidence, verdict and date: the name of a saved report, without its extension. */
let name = 'evidence';
const counts = { read: 0, bytes: 0, done: 0, parts: 0, startedAtMs: 0 };
const TITLE = document.title;

connectInputs(discardResult);
// Firefox lists dropped folders on pages from files too.
showElement('no-folders', location.protocol === 'file:' && !CSS.supports('-moz-appearance: none'));
getElement('form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  void beginVerification();
});
getElement('form', HTMLFormElement).noValidate = true;
onClick('cancel', () => stop('Cancelled. There is no partial result.'));
onClick('save', () => session?.ask('json'));
onClick('save-page', () => session?.ask('html'));
onClick('print', print);

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
  const [{ name: only } = { name }, ...more] = request.trees;
  name = more.length === 0 ? only : `${request.trees.length} items`;
  Object.assign(counts, { read: 0, bytes: 0, done: 0, parts: 0, startedAtMs: performance.now() });
  setRunning(true);
  session = startSession(request, takeProgress, (message) =>
    stop(`The browser stopped a worker: ${escapeText(message)}`),
  );
}

function setRunning(isRunning: boolean): void {
  showElement('running', isRunning);
  showElement('cancel', isRunning);
  getElement('verify', HTMLButtonElement).disabled = isRunning;
  if (!isRunning) return;
  showProgress();
  getElement('running', HTMLElement).scrollIntoView({ block: 'nearest' });
}

function stop(message: string): void {
  session?.end();
  session = undefined;
  setRunning(false);
  showMessage(message);
}

function takeProgress(progress: WorkerMessage): void {
  if (progress.kind === 'done') return showResult(progress.verified, progress.isOpen);
  if (progress.kind === 'failed') return stop(explainFailure(progress.failure));
  if (progress.kind === 'inside') return showInside(progress.html);
  if (progress.kind === 'file') return save(progress.blob, progress.extension);
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
    bytes === 0
      ? 'Opening the evidence'
      : `${size(read)} of ${size(bytes)} read${finished}${describeRate(read)}`;
}

/** The rate in bytes per second and the time that is left, once both are known well enough. */
function describeRate(read: number): string {
  const seconds = (performance.now() - counts.startedAtMs) / 1000;
  if (seconds < 2 || read === 0) return '';
  const left = Math.ceil(((counts.bytes - read) * seconds) / read);
  return `, ${size(Math.round(read / seconds))}/s, about ${countNoun(left, 'second')} left`;
}

function showResult(verified: Verified, isOpen: boolean): void {
  const today = isoTime(Date.now()).slice(0, 'YYYY-MM-DD'.length);
  name = `${name.replace(/\.zip$/, '')}.${verified.view.verdict}.${today}`;
  setRunning(false);
  const report = getElement('report', HTMLElement);
  report.innerHTML = verified.view.html; // already escaped
  enhanceReport(report, isOpen ? addLook : undefined);
  getElement('warnings', HTMLElement).replaceChildren(
    ...verified.notes.map((textContent) => makeElement('p', { className: 'note bad', textContent })),
  );
  showElement('result', true);
  document.title = `${verified.view.title} - drillproof`;
  const result = getElement('result', HTMLElement);
  result.focus({ preventScroll: true });
  result.scrollIntoView(); // Firefox does not scroll to the focus
}

function addLook(element: Element, row: number): void {
  const heading = element.querySelector('th');
  const title = `Look inside ${heading?.querySelector('code')?.textContent}`;
  const button = makeElement('button', { type: 'button', className: 'small', textContent: 'Look inside' });
  button.setAttribute('aria-label', title);
  button.addEventListener('click', () => {
    getElement('inside-title', HTMLElement).textContent = title.replace('Look inside', 'Inside');
    session?.ask(row);
  });
  heading?.append(' ', button);
}

function showInside(html: string): void {
  const body = getElement('inside-body', HTMLElement);
  body.innerHTML = html; // already escaped
  // The sections of the full report have the same ids.
  for (const element of body.querySelectorAll('[id]')) element.id = `inside-${element.id}`;
  for (const element of body.querySelectorAll('[aria-labelledby]'))
    element.setAttribute('aria-labelledby', `inside-${element.getAttribute('aria-labelledby')}`);
  enhanceReport(body);
  getElement('inside', HTMLDialogElement).showModal();
}

function save(blob: Blob, extension: FileKind): void {
  const url = URL.createObjectURL(blob);
  makeElement('a', { href: url, download: `${name}.${extension}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
