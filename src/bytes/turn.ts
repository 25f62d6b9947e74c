/**
 * Lets everything else that waits run once: timers, signals, other input. Reads that need not wait never do that by
 * themselves. A message to oneself is the quickest way there is everywhere.
 */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
