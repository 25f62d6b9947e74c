/**
 * Lets other waiting work run once: timers, signals, other input. Synchronous reads never do that by themselves. A
 * message to the same thread is the fastest way on every platform.
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
