import { Readable } from 'node:stream';
import { fromRandomAccessReaderPromise, RandomAccessReader, type Entry, type ZipFile } from 'yauzl';
import { digestStream, type Digest } from '../bytes/hash.ts';
import { streamAccess, type RandomAccess } from '../bytes/random-access.ts';
import { DrillproofError } from '../errors.ts';

/** An entry as yauzl sees it. */
export type SeenEntry = { readonly name: string; readonly bytes: number; readonly digest: Digest };

/**
 * Reads an archive with yauzl, entry by entry in the order of its central directory, each streamed and hashed: the
 * second reader, which shares no code with `openZip`. It accepts more than `openZip` does and checks no CRC-32; what
 * counts is that both see the same entries and bytes wherever `openZip` accepts.
 * @throws DrillproofError `zip.RECORD_INVALID` for what yauzl refuses; what the source throws passes unchanged.
 */
export async function* readZipWithYauzl(access: RandomAccess): AsyncGenerator<SeenEntry, void, undefined> {
  const reader = new BoundedReader(access);
  let path: string | undefined;
  try {
    // Backslashes stay as they are, so that a name is what the archive says.
    const zip = await fromRandomAccessReaderPromise(reader, access.size, {
      autoClose: false,
      strictFileNames: true,
    });
    for await (const entry of zip.eachEntry()) {
      path = entry.fileName;
      yield { name: path, ...(await hashEntry(zip, entry)) };
    }
  } catch (cause) {
    if (reader.failure !== undefined) throw reader.failure.error;
    throw new DrillproofError('zip.RECORD_INVALID', `yauzl refuses the archive: ${reasonOf(cause)}`, {
      ...(path !== undefined && { path }),
      cause,
    });
  }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

async function hashEntry(zip: ZipFile, entry: Entry): Promise<{ bytes: number; digest: Digest }> {
  return digestStream(await zip.openReadStreamPromise(entry));
}

/**
 * The reader that yauzl reads through. yauzl checks no offset before it reads, and its own readers throw where no
 * one can catch it when an offset lies outside the file; here each is an error of the call. The first failure of the
 * source is kept, because yauzl would pass it on as one of the archive.
 */
class BoundedReader extends RandomAccessReader {
  failure: { readonly error: unknown } | undefined;
  readonly #access: RandomAccess;

  constructor(access: RandomAccess) {
    super();
    this.#access = access;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (!this.#within(position, position + length)) return void setImmediate(callback, outside());
    this.#copy(buffer, offset, length, position).then(
      () => setImmediate(callback, null),
      (error: unknown) => setImmediate(callback, asError(error)),
    );
  }

  override _readStreamForRange(start: number, end: number): Readable {
    if (this.#within(start, end)) return Readable.from(this.#pieces(start, end));
    return new Readable().destroy(outside());
  }

  override close(callback: (error: Error | null) => void): void {
    setImmediate(callback, null);
  }

  #within(start: number, end: number): boolean {
    return Number.isSafeInteger(start) && start >= 0 && start <= end && end <= this.#access.size;
  }

  async #copy(buffer: Buffer, offset: number, length: number, position: number): Promise<void> {
    let at = offset;
    for await (const piece of this.#pieces(position, position + length)) {
      buffer.set(piece, at);
      at += piece.length;
    }
  }

  async *#pieces(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* streamAccess(this.#access, start, end - start);
    } catch (error) {
      this.failure ??= { error };
      throw error;
    }
  }
}

const outside = (): Error => new RangeError('a record lies outside the file');

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
