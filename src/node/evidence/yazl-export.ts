import { checkArguments, ITERABLE, optional, optionsOf, SIGNAL, withMethods } from '../../bytes/arguments.ts';
import { addAbortSignal, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ZipFile } from 'yazl';
import { DrillproofError } from '../../errors.ts';
import { assertSafeName, createNameCheck } from '../../zip/limits.ts';

/** A file of the export. `open` is called once, after all files before it were written, and may return a `Readable`. */
export type ExportFile = {
  readonly path: string;
  readonly bytes: number;
  open(): AsyncIterable<Uint8Array>;
};

// The metadata is always the same. yazl writes an early date as 1980-01-01 00:00 in any time zone.
const ENTRY_OPTIONS = { mtime: new Date(0), forceDosTimestamp: true, mode: 0o100644, compress: false };

/**
 * Writes an export as one ZIP and ends `out`: entries stored, in the given order, with time 1980-01-01 00:00 and mode
 * 0100644 (formats §1, Export). The same files in the same order give the same bytes.
 *
 * Each entry carries a data descriptor. yazl omits it only for `addBuffer`, which keeps every buffer until the archive
 * is finished and accepts no more than 1 GiB. Its streams are opened one after the other and hold a few chunks.
 * @throws DrillproofError `zip.NAME_INVALID`, `zip.ENTRY_DUPLICATE`; `io.CHANGED` for a file whose size differs from
 *   `bytes`; an error of a file or `out`; the reason of an aborted `signal`. Whatever fails, `out` is destroyed.
 * @example
 * const open = () => createReadStream('export/manifest.json');
 * const files = [{ path: 'manifest.json', bytes: manifest.length, open }];
 * await zipExport(files, createWriteStream('export.zip'));
 */
export async function zipExport(
  files: Iterable<ExportFile> | AsyncIterable<ExportFile>,
  out: Writable,
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  checkArguments(KINDS, { files, out, options });
  const { default: yazl } = await import('yazl'); // only exports in one file need it
  const zip = new yazl.ZipFile();
  const stop = new AbortController();
  const signal = AbortSignal.any(
    options.signal === undefined ? [stop.signal] : [stop.signal, options.signal],
  );
  const fail = (error: unknown): void => stop.abort(error);
  zip.on('error', fail);
  const written = pipeline(zip.outputStream, out, { signal }).catch((error: unknown) => {
    fail(error); // closes the file that is being read
    throw signal.reason;
  });
  await Promise.all([written, addAll(zip, files, signal).catch(fail)]);
}

const KINDS = {
  files: ITERABLE,
  out: withMethods('a Writable', 'write', 'end'),
  options: optionsOf({ signal: optional(SIGNAL) }),
};

async function addAll(
  zip: ZipFile,
  files: Iterable<ExportFile> | AsyncIterable<ExportFile>,
  signal: AbortSignal,
): Promise<void> {
  const assertNew = createNameCheck();
  for await (const file of files) {
    signal.throwIfAborted();
    assertSafeName(file.path);
    assertNew(file.path);
    zip.addReadStreamLazy(file.path, { ...ENTRY_OPTIONS, size: file.bytes }, (answer) => {
      const stream = Readable.from(checkFile(file));
      stream.on('error', (error) => zip.emit('error', error)); // yazl itself does not listen
      addAbortSignal(signal, stream);
      answer(null, stream);
    });
  }
  zip.end();
}

/** Reads a file, and fails unless it has the announced size, on which the headers depend. */
async function* checkFile(file: ExportFile): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of file.open()) {
    bytes += chunk.length;
    if (bytes > file.bytes) break;
    yield chunk;
  }
  if (bytes === file.bytes) return;
  throw new DrillproofError('io.CHANGED', `the file does not have the announced ${file.bytes} bytes`, {
    path: file.path,
  });
}
