import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type StallingProxy = {
  readonly port: number;
  /** Holds every byte of open and new connections back, without closing any, until `resume`. */
  stall(): void;
  resume(): void;
  close(): Promise<void>;
};

/** Starts a TCP proxy that can stop moving bytes, like a network that drops packets. */
export async function startStallingProxy(to: number): Promise<StallingProxy> {
  const sockets = new Set<Socket>();
  let stalled = false;
  const move = (from: Socket, into: Socket): void => {
    sockets.add(from);
    from.on('data', (chunk) => into.write(chunk));
    from
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
    if (stalled) from.pause();
  };
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    move(client, upstream);
    move(upstream, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP address');
  return {
    port: address.port,
    stall() {
      stalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      stalled = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
