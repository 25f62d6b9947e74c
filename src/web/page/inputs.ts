import { DIGEST_FORM, TIME_FORM, countNoun, readDigest, readTime } from '../../bytes/text/wording.ts';
import { isExportPath, type OtherKind, recognizeKind, START_BYTES } from '../../evidence/source.ts';
import { equalBytes } from '../../zip/read/extra.ts';
import { size } from '../../report/text/page.ts';
import { escapeText } from '../../report/printable.ts';
import { type BlobTree, countBytes, isToken, readDroppedTree, readFileTree } from '../sources.ts';
import type { KeyFile, Request } from '../worker/messages.ts';
import { explainError, getElement, makeElement, onClick, showMessage } from './elements.ts';
import { requestKeyList } from './workers.ts';

type ChosenKey = { readonly name: string; readonly bytes: Uint8Array; readonly issuer?: HTMLInputElement };

let trees: readonly BlobTree[] = [];
let tokens: readonly string[] = [];
const keys: ChosenKey[] = [];
/** Settles when all chosen and dropped files are read: a verification must not begin with half of them. */
let pending: Promise<unknown> = Promise.resolve();
/** Called with every change of the evidence, the keys and the options. */
let notifyChange = (): void => {};

const waitFor = (work: () => Promise<void>): void => {
  const result = work().catch((error: unknown) => showMessage(explainError(error)));
  pending = Promise.all([pending, result]);
};

function takeFiles(files: readonly File[]): void {
  chooseTree(undefined);
  waitFor(async () => chooseTree(readFileTree(files)));
}

export function connectInputs(onChange: () => void): void {
  notifyChange = onChange;
  // The fields of options and of issuers.
  for (const type of ['input', 'change'])
    getElement('form', HTMLFormElement).addEventListener(type, onChange);
  connectPicker('choose-folder', 'folder', takeFiles);
  connectPicker('choose-file', 'file', takeFiles);
  connectPicker('choose-keys', 'keys-input', (files) => waitFor(() => addKeys(files)));
  connectDrop('evidence-drop', async (transfer) => {
    chooseTree(undefined);
    const isSeveral = transfer.items.length > 1; // the browser clears the items
    const dropped = await readDroppedTree(transfer);
    chooseTree(isSeveral ? await takeKeys(dropped) : dropped);
  });
  connectDrop('keys-drop', async (transfer) => {
    const dropped = await readDroppedTree(transfer);
    await addKeys([...dropped.files.values()].filter((file) => file instanceof File));
  });
  // A file that is dropped outside of the zones would replace the page.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
}

function connectPicker(button: string, input: string, take: (files: readonly File[]) => void): void {
  const picker = getElement(input, HTMLInputElement);
  onClick(button, () => picker.click());
  picker.addEventListener('change', (event) => {
    event.stopPropagation(); // the form would remove the message about these files
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
    const { dataTransfer } = event;
    if (dataTransfer !== null) waitFor(() => take(dataTransfer));
  });
}

function chooseTree(chosen: BlobTree | undefined): void {
  notifyChange();
  trees = chosen === undefined ? [] : findEvidence(chosen);
  tokens = [...(chosen?.files.keys() ?? [])].filter(isToken);
  getElement('evidence-name', HTMLElement).textContent =
    chosen === undefined ? 'Nothing chosen' : describeTrees(chosen.files.size);
}

/** Takes the keys that were dropped next to the evidence. Keys inside it never count. */
async function takeKeys(dropped: BlobTree): Promise<BlobTree> {
  const files = new Map(dropped.files);
  if ([...files.keys()].some(isExportPath)) return dropped; // the files of an export, without its folder
  for (const [path, file] of dropped.files)
    if (!path.includes('/') && file instanceof File && LOOSE_KEYS.has(await readKind(file))) {
      files.delete(path);
      await addKeys([file]);
    }
  const [only = dropped.name] = files.keys();
  return { ...dropped, files, name: files.size === 1 ? only : dropped.name };
}

const readKind = async (file: File): Promise<OtherKind | undefined> =>
  recognizeKind(new Uint8Array(await file.slice(0, START_BYTES).arrayBuffer()));

/** Finds the exports, bags and ZIP files among what was chosen; without any of them, all of it is one tree. */
function findEvidence(chosen: BlobTree): readonly BlobTree[] {
  const { files, folders } = chosen;
  const paths = [...files.keys()];
  if (paths.some(isExportPath)) return [chosen];
  const found = paths.flatMap((path) => /^(.*\/|)(?:manifest\.json|bagit\.txt)$/.exec(path)?.[1] ?? []);
  const roots = [...new Set(found)];
  const outer = roots.filter((root) => !roots.some((other) => root !== other && root.startsWith(other)));
  if (outer.includes('')) return [chosen];
  const exports = outer.map((root): BlobTree => {
    const inside = (path: string): boolean => path.startsWith(root);
    return {
      name: (outer.length === 1 ? root.split('/').at(-2) : undefined) ?? root.slice(0, -1),
      files: new Map(
        [...files].flatMap(([path, file]) => (inside(path) ? [[path.slice(root.length), file]] : [])),
      ),
      folders: folders.filter(inside).map((path) => path.slice(root.length)),
    };
  });
  const zips = paths.filter((path) => path.endsWith('.zip') && !outer.some((root) => path.startsWith(root)));
  const all = [
    ...exports,
    ...zips.map((name) => ({ name, files: new Map([[name, files.get(name)!]]), folders: [] })),
  ];
  if (all.length > 0) return all;
  const rest = new Map([...files].filter(([path]) => !isToken(path)));
  const [only = chosen.name] = rest.keys();
  if (rest.size === 0 || rest.size === files.size) return [chosen];
  return [{ ...chosen, name: rest.size === 1 ? only : chosen.name, files: rest }];
}

const MAX_NAMES = 5;

function describeTrees(chosenFiles: number): string {
  const names = trees.slice(0, MAX_NAMES).map(({ name }) => escapeText(name));
  const more = trees.length - names.length;
  const files = trees.reduce((sum, tree) => sum + tree.files.size, 0);
  const others = chosenFiles - files;
  const contents = `${countNoun(files, 'file')}, ${size(countBytes(trees))}`;
  const rest = others > 0 ? `; ${countNoun(others, 'other file')} will not be verified` : '';
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} (${contents})${rest}`;
}

const MAX_KEY_BYTES = 16 * 2 ** 20;

async function addKeys(files: readonly File[]): Promise<void> {
  notifyChange();
  for (const file of files) {
    if (file.size > MAX_KEY_BYTES)
      showMessage(
        `${escapeText(file.name)} has ${size(file.size)}. Choose a file of keys of at most ${size(MAX_KEY_BYTES)}.`,
      );
    else await addKey(file.name, new Uint8Array(await file.arrayBuffer()));
  }
}

const LOOSE_KEYS: ReadonlySet<string | undefined> = new Set(['a key', 'a trust store or a set of keys']);
const KEY_KINDS = new Set([...LOOSE_KEYS, undefined]);

/**
 * A trust store states the issuer of each key; for other files the user enters it. A file that is not valid is listed with
 * the reason, so that no verification omits it. The same file twice is one file.
 */
async function addKey(name: string, bytes: Uint8Array): Promise<void> {
  if (keys.some((key) => equalBytes(key.bytes, bytes))) return;
  const kind = isZip(bytes) ? 'a ZIP archive' : recognizeKind(bytes.subarray(0, START_BYTES));
  if (!KEY_KINDS.has(kind))
    return showMessage(
      `${escapeText(name)} is ${kind}, not a key. Choose evidence, signed reports and envelopes in their own fields.`,
    );
  const isStore = /^\s*\{[^]*"keys"[^]*"issuer"/.test(new TextDecoder().decode(bytes));
  const issuer = makeElement('input', { type: 'text', required: true, spellcheck: false });
  const key: ChosenKey = { name, bytes, ...(isStore ? {} : { issuer }) };
  const remove = makeElement('button', { type: 'button', textContent: 'Remove' });
  remove.setAttribute('aria-label', `Remove ${escapeText(name)}`);
  const label = isStore ? 'trust store' : makeElement('label', {}, 'Issuer of this key ', issuer);
  const lines = makeElement('ul', {});
  const title = makeElement('code', { textContent: escapeText(name) });
  const item = makeElement('li', {}, title, label, remove, lines);
  remove.addEventListener('click', () => {
    notifyChange();
    keys.splice(keys.indexOf(key), 1);
    item.remove();
  });
  keys.push(key);
  getElement('key-list', HTMLElement).append(item);
  try {
    lines.innerHTML = await requestKeyList({
      name,
      bytes,
      ...(isStore ? {} : { issuer: 'not yet entered' }),
    });
    enhanceReport(lines);
  } catch (error) {
    lines.append(makeElement('li', { textContent: explainError(error) }));
  }
}

/** Reads the request of the user from the page. @throws RangeError with a message for the user */
export async function readRequest(nowMs: number): Promise<Request> {
  // More files can be chosen in the meantime.
  for (let seen: unknown; seen !== pending; await seen) seen = pending;
  if (trees.length === 0) throw new RangeError('Choose the evidence first: a folder, a ZIP file, or a part.');
  const time = getElement('as-of', HTMLInputElement).value.trim();
  const digest = getElement('digest', HTMLInputElement).value.trim();
  const asOfMs = time === '' ? nowMs : readTime(time);
  if (asOfMs === undefined)
    throw new RangeError(`The time ${JSON.stringify(time)} is invalid. Enter ${TIME_FORM}.`);
  const manifestDigest = readDigest(digest);
  if (digest !== '' && manifestDigest === undefined)
    throw new RangeError(`The SHA-256 of manifest.json is invalid. Enter ${DIGEST_FORM}.`);
  const envelopes = [...(getElement('envelopes', HTMLInputElement).files ?? [])];
  if (trees.length > 1 && (envelopes.length > 0 || digest !== ''))
    throw new RangeError('A digest and envelopes are about one export or part. Choose only that one.');
  return {
    trees,
    keys: keys.map(readKey),
    envelopes,
    tokens,
    asOfMs,
    page: document.querySelector<HTMLMetaElement>('meta[name=digest]')!.content,
    ...(manifestDigest && { manifestDigest }),
  };
}

const isZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b;

function readKey({ name, bytes, issuer }: ChosenKey): KeyFile {
  if (issuer === undefined) return { name, bytes };
  const text = issuer.value.trim();
  if (text === '') throw new RangeError(`Enter the issuer of ${name}, exactly as statements name it.`);
  return { name, bytes, issuer: text };
}
