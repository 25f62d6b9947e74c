import { isDigest } from '../../bytes/hash.ts';
import { countNoun, size } from '../../report/text/page.ts';
import { escapeText } from '../../report/printable.ts';
import { type BlobTree, countBytes, readDroppedTree, readFileTree } from '../sources.ts';
import type { KeyFile, Request } from '../worker/messages.ts';
import { explainError, getElement, makeElement, showMessage } from './elements.ts';

type ChosenKey = { readonly name: string; readonly bytes: Uint8Array; readonly issuer?: HTMLInputElement };

let tree: BlobTree | undefined;
const keys: ChosenKey[] = [];
/** Settles when all chosen and dropped files are read: a verification must not begin with half of them. */
let pending: Promise<unknown> = Promise.resolve();

const waitFor = (work: () => Promise<void>): void => {
  const result = work().catch((error: unknown) => showMessage(explainError(error)));
  pending = Promise.all([pending, result]);
};

export function connectInputs(): void {
  connectPicker('choose-folder', 'folder', (files) => chooseTree(readFileTree(files)));
  connectPicker('choose-file', 'file', (files) => chooseTree(readFileTree(files)));
  connectPicker('choose-keys', 'keys-input', (files) => waitFor(() => addKeys(files)));
  connectDrop('evidence-drop', async (transfer) => chooseTree(await readDroppedTree(transfer)));
  connectDrop('keys-drop', async (transfer) => {
    const dropped = await readDroppedTree(transfer);
    await addKeys([...dropped.files.values()].filter((file) => file instanceof File));
  });
  // A file that is dropped outside of the zones would replace the page.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
}

function connectPicker(button: string, input: string, take: (files: readonly File[]) => void): void {
  const picker = getElement(input, HTMLInputElement);
  getElement(button, HTMLButtonElement).addEventListener('click', () => picker.click());
  picker.addEventListener('change', () => {
    const files = [...(picker.files ?? [])];
    picker.value = ''; // the same file can be chosen again
    if (files.length > 0) take(files);
  });
}

function connectDrop(id: string, take: (transfer: DataTransfer) => Promise<void>): void {
  const zone = getElement(id, HTMLElement);
  zone.addEventListener('dragover', () => zone.classList.add('over'));
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    showMessage(undefined);
    const { dataTransfer } = event;
    if (dataTransfer !== null) waitFor(() => take(dataTransfer));
  });
}

function chooseTree(chosen: BlobTree): void {
  tree = chosen;
  const contents = `${countNoun(chosen.files.size, 'file')}, ${size(countBytes(chosen))}`;
  getElement('evidence-name', HTMLElement).textContent = `${escapeText(chosen.name)} (${contents})`;
}

const MAX_KEY_BYTES = 16 * 2 ** 20;

async function addKeys(files: readonly File[]): Promise<void> {
  showMessage(undefined);
  for (const file of files) {
    if (file.size > MAX_KEY_BYTES)
      showMessage(
        `${escapeText(file.name)} has ${size(file.size)}. Choose a file of keys of at most ${size(MAX_KEY_BYTES)}.`,
      );
    else addKey(file.name, new Uint8Array(await file.arrayBuffer()));
  }
}

/** A trust store states the issuer of each key; for other files the user enters it. */
function addKey(name: string, bytes: Uint8Array): void {
  const isStore = /^\s*\{[^]*"keys"[^]*"issuer"/.test(new TextDecoder().decode(bytes));
  const issuer = makeElement('input', { type: 'text', required: true, spellcheck: false });
  const key: ChosenKey = { name, bytes, ...(isStore ? {} : { issuer }) };
  const remove = makeElement('button', { type: 'button', textContent: 'Remove' });
  remove.setAttribute('aria-label', `Remove ${name}`);
  const label = isStore ? 'trust store' : makeElement('label', {}, 'Issuer of this key ', issuer);
  const item = makeElement('li', {}, makeElement('code', { textContent: escapeText(name) }), label, remove);
  remove.addEventListener('click', () => {
    keys.splice(keys.indexOf(key), 1);
    item.remove();
  });
  keys.push(key);
  getElement('key-list', HTMLElement).append(item);
}

/** A time in the format of `--as-of`. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Reads the request of the user from the page. @throws RangeError with a message for the user */
export async function readRequest(nowMs: number): Promise<Request> {
  await pending;
  if (tree === undefined) throw new RangeError('Choose the evidence first: a folder, a ZIP file, or a part.');
  const time = getElement('as-of', HTMLInputElement).value.trim();
  const digest = getElement('digest', HTMLInputElement).value.trim();
  const asOfMs = time === '' ? nowMs : TIME.test(time) ? Date.parse(time) : NaN;
  if (Number.isNaN(asOfMs))
    throw new RangeError(
      `The time ${JSON.stringify(time)} is invalid. Enter it like 2026-01-31T12:00:00.000Z.`,
    );
  if (digest !== '' && !isDigest(digest))
    throw new RangeError(
      'The SHA-256 of the manifest is invalid. Enter "sha256:" and 64 characters 0-9 and a-f.',
    );
  return {
    tree,
    keys: keys.map(readKey),
    envelopes: [...(getElement('envelopes', HTMLInputElement).files ?? [])],
    asOfMs,
    ...(digest === '' ? {} : { manifestDigest: digest }),
  };
}

function readKey({ name, bytes, issuer }: ChosenKey): KeyFile {
  if (issuer === undefined) return { name, bytes };
  const text = issuer.value.trim();
  if (text === '') throw new RangeError(`Enter the issuer of ${name}, exactly as statements name it.`);
  return { name, bytes, issuer: text };
}
