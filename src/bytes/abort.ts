/**
 * The result of `work`. Once `signal` is aborted, a failure is the reason of the signal, whatever the work made of it.
 * @throws the reason of an aborted `signal`, before the work begins or when it fails; what `work` throws
 */
export async function rejectWithReason<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (cause) {
    signal?.throwIfAborted();
    throw cause;
  }
}
