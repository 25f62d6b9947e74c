import type { Bytes } from '../../../bytes/index.ts';
import type { Written } from '../bucket.ts';

/** An upload whose bytes are pushed, and of which nothing is seen before `end`. */
export type Upload = {
  /** Resolves when there is room for more. Throws what ended the upload. */
  push(chunk: Uint8Array): Promise<void>;
  end(): Promise<Written>;
  /** Ends it without a trace. */
  abort(): Promise<void>;
};

/** Begins an upload that takes its bytes from a stream. */
export function startUpload(begin: (body: Bytes) => Promise<Written>): Upload {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const done = begin(readable);
  done.catch(() => undefined); // it is told by whatever is asked for next
  const orWhy = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (cause) {
      await done;
      throw cause;
    }
  };
  return {
    push: (chunk) => orWhy(writer.write(chunk)),
    async end() {
      await orWhy(writer.close());
      return done;
    },
    async abort() {
      await writer.abort(new Error('the upload was given up')).catch(() => undefined);
      await done.catch(() => undefined); // what is left of it is swept by the next run
    },
  };
}
