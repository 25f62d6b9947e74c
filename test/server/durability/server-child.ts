// A server that kills itself right after the nth transaction from when it was told to: `node server-child.ts DATA`.
import { createServer, listen, openStores, type Store } from '../../../src/server/index.ts';
import { UNHURRIED } from '../make.ts';

let left = Infinity;
process.on('message', (message) => {
  left = Number(message);
  process.send?.('armed');
});

const { store, blobs } = await openStores(process.env, process.argv[2] ?? '');
const deadly: Store = {
  ...store,
  async transaction(work) {
    const result = await store.transaction(work);
    if (--left === 0) process.kill(process.pid, 'SIGKILL');
    return result;
  },
};
const limits = { idempotencyLeaseMs: 250, ...UNHURRIED };
const { url } = await listen(createServer({ store: deadly, blobs, limits }));
process.send?.(url);
