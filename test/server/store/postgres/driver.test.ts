import { once } from 'node:events';
import { createServer, Socket, type AddressInfo } from 'node:net';
import * as pg from 'pg';
import { expect, it, vi } from 'vitest';
import { buildClientConfig } from '../../../../src/server/store/postgres/driver.ts';
import { defaults } from '../../../../src/server/store/postgres/options.ts';

it('a connection to PostgreSQL writes all statements of one turn at once', async () => {
  const server = createServer((peer) => peer.pipe(peer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = buildClientConfig(pg, 'postgres://u:p@h/d', defaults).stream?.();
  if (!(socket instanceof Socket)) throw new TypeError('not a socket');
  const writes = vi.spyOn(socket, '_writev');
  const send = (...messages: string[]): void => {
    socket.cork(); // as pg does for the messages of a statement
    for (const message of messages) socket.write(message);
    socket.uncork();
  };
  await once(socket.connect((server.address() as AddressInfo).port, '127.0.0.1'), 'connect');
  send('bind ', 'execute ');
  send('bind ', 'execute ');
  expect(writes).toHaveBeenCalledTimes(0);
  expect(String((await once(socket, 'data'))[0])).toBe('bind execute bind execute ');
  send('sync ', 'end');
  expect(String((await once(socket, 'data'))[0])).toBe('sync end');
  expect(writes).toHaveBeenCalledTimes(2);
  socket.destroy();
  server.close();
});
