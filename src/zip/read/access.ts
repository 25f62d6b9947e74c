import { defined } from '../../bytes/arguments.ts';
import { type RandomAccess, readExactly } from '../../bytes/random-access.ts';
import { DrillproofError } from '../../errors.ts';

type Window = { readonly offset: number; readonly length: number; readonly path: string | undefined };

/** Steps that read a file: each window that they yield returns as its bytes, from memory or after a wait. */
export type Reading<T> = Generator<Window, T, Uint8Array>;

/** The window `[offset, offset + length)` of a file. @throws DrillproofError `zip.TRUNCATED` if it ends outside */
export function cutWindow(fileBytes: number, offset: number, length: number, path?: string): Window {
  const window = { offset, length, path };
  assertWithin(fileBytes, window);
  return window;
}

/**
 * Runs the steps on a source without waiting for bytes in memory.
 * @throws what the steps throw; `io.CHANGED` when the source returns fewer bytes than it has; errors of the source
 */
export async function runReading<T>(reading: Reading<T>, access: RandomAccess): Promise<T> {
  let step = reading.next();
  while (step.done !== true) {
    const { offset, length, path } = step.value;
    const { bytes } = access;
    const window = bytes?.subarray(offset, offset + length) ?? readExactly(access, offset, length, path);
    step = reading.next(window instanceof Uint8Array ? window : await window);
  }
  return step.value;
}

function assertWithin(fileBytes: number, { offset, length, path }: Window): void {
  if (offset >= 0 && offset + length <= fileBytes) return;
  throw new DrillproofError('zip.TRUNCATED', 'a record extends past the end of the file', defined({ path }));
}

/** The same source, but reads outside it throw `zip.TRUNCATED`, and reads that return too little throw `io.CHANGED`. */
export const exactAccess = (access: RandomAccess, path?: string): RandomAccess => ({
  size: access.size,
  read(offset, length) {
    assertWithin(access.size, { offset, length, path });
    return readExactly(access, offset, length, path);
  },
});
