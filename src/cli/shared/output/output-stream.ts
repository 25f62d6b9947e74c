import { writeOutputFile, type WriteOptions } from './output-file.ts';

/** A file that is written piece by piece and appears under its name when it is closed. */
export type OutputStream = {
  /** Resolves when the bytes are taken. @throws DrillproofError what `writeOutputFile` throws */
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly abort: (reason: unknown) => Promise<void>;
};

/** `writeOutputFile` for bytes that are not all known yet. */
export function openOutputFile(path: string, options: WriteOptions): OutputStream {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const written = writeOutputFile(path, readable, options);
  // Where it failed before it read anything, the bytes that wait for it must not wait for ever.
  written.catch((error: unknown) => (readable.locked ? undefined : readable.cancel(error)));
  return {
    // A file that cannot be written never takes the bytes, so that its failure has to win.
    write: async (text) => {
      if (text !== '') await Promise.race([writer.write(Buffer.from(text)), failureOf(written)]);
    },
    async close() {
      await Promise.race([writer.close(), failureOf(written)]);
      await written;
    },
    async abort(reason) {
      await writer.abort(reason).catch(() => {});
      await written.catch(() => {});
    },
  };
}

/** Never resolves: only a failure counts. */
const failureOf = (written: Promise<void>): Promise<never> =>
  written.then(() => new Promise<never>(() => {}));
