/** What `act` throws, or `undefined`; so that tests can look at codes and classes instead of messages. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
