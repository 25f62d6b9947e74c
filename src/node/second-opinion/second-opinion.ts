import { defined } from '../../bytes/arguments.ts';
import { type Digest, digestStream } from '../../bytes/hash.ts';
import { platform as portable } from '../../bytes/platform-portable.ts';
import { type RandomAccess, streamAccess } from '../../bytes/random-access.ts';
import type { SecondOpinion } from '../../verify/options.ts';
import { Readable } from 'node:stream';
import type { RandomAccessReader } from 'yauzl';
import { DrillproofError } from '../../errors.ts';
import { exactAccess } from '../../zip/read/access.ts';

/**
 * The second implementation of both things that `verify --second-opinion` checks twice: noble for signatures, yauzl for
 * archives (formats §4).
 */
export const secondOpinion: SecondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };

/** An entry as yauzl reads it. */
export type SeenEntry = { readonly name: string; readonly bytes: number; readonly digest: Digest };

/**
 * Reads an archive with yauzl, the second reader, which shares no code with `openZip`: entry by entry in the order of its
 * central directory, each streamed and hashed. It accepts more archives than `openZip` and checks no CRC-32, but both
 * must return the same entries and bytes in every archive that `openZip` accepts.
 * @throws DrillproofError `zip.RECORD_INVALID` if yauzl refuses the archive, `zip.TRUNCATED` if it would read outside the
 *   file, `io.CHANGED` if a read returns fewer bytes than requested; an error of the source
 */
export async function* readZipWithYauzl(access: RandomAccess): AsyncGenerator<SeenEntry, void, undefined> {
  const { default: yauzl } = await import('yauzl'); // only a second opinion needs it
  const reader = createReader(yauzl, access);
  let path: string | undefined;
  try {
    // Backslashes are kept, so that a name is that in the archive.
    const zip = await yauzl.fromRandomAccessReaderPromise(reader, access.size, {
      autoClose: false,
      strictFileNames: true,
    });
    for await (const entry of zip.eachEntry()) {
      path = entry.fileName;
      yield { name: path, ...(await digestStream(await zip.openReadStreamPromise(entry))) };
      path = undefined; // a failure between two entries belongs to neither
    }
  } catch (cause) {
    if (reader.failure !== undefined) throw reader.failure.error;
    throw new DrillproofError('zip.RECORD_INVALID', `yauzl cannot read the archive: ${formatReason(cause)}`, {
      ...defined({ path }),
      cause,
    });
  }
}

/** Formats one line, because yauzl quotes names, which may contain any character. */
const formatReason = (cause: unknown): string => asError(cause).message.replaceAll(/\p{Cc}+/gu, ' ');

/**
 * Creates the reader for yauzl. yauzl does not check offsets, and its own readers throw uncatchable errors for offsets
 * outside the file. With this reader each is an error of the call. The first failure is kept unchanged, because yauzl would
 * report it as a fault of the archive.
 */
function createReader({ RandomAccessReader }: typeof import('yauzl'), access: RandomAccess) {
  const exact = exactAccess(access);
  class BoundedReader extends RandomAccessReader {
    failure: { readonly error: unknown } | undefined;
    readonly #access: RandomAccess = {
      size: access.size,
      read: async (offset, length) => {
        try {
          return await exact.read(offset, length);
        } catch (error) {
          this.failure ??= { error };
          throw error;
        }
      },
    };

    override read(...[buffer, offset, length, position, callback]: ReadArguments): void {
      const copy = async () => buffer.set(await this.#access.read(position, length), offset);
      // An error that yauzl throws in its callback must not become a rejection of this read.
      void copy().then(
        () => setImmediate(callback, null),
        (error: unknown) => setImmediate(callback, asError(error)),
      );
    }

    override _readStreamForRange(start: number, end: number): Readable {
      return Readable.from(streamAccess(this.#access, start, end - start));
    }

    override close(callback: (error: Error | null) => void): void {
      setImmediate(callback, null);
    }
  }
  return new BoundedReader();
}

type ReadArguments = Parameters<RandomAccessReader['read']>;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
