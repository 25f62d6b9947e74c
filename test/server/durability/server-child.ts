// A server that kills itself before (0) or after (1) its next commit: `node server-child.ts DATA`.
import { createServer } from '../../../src/server/server.ts';
import { listen } from '../../../src/server/listen.ts';
import { openStores } from '../../../src/server/open-stores.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { UNHURRIED } from '../make.ts';

let dieAt: number | undefined;
process.on('message', (message) => {
  dieAt = Number(message);
  process.send?.('armed');
});

const dieIf = (at: number): void => {
  if (dieAt === at) process.kill(process.pid, 'SIGKILL');
};

const { store, blobs } = await openStores(process.env, process.argv[2] ?? '');
const deadly: Store = {
  ...store,
  async transaction(work) {
    const result = await store.transaction(async (tx) => {
      const outcome = await work(tx);
      dieIf(0);
      return outcome;
    });
    dieIf(1);
    return result;
  },
};
const { url } = await listen(createServer({ store: deadly, blobs, limits: UNHURRIED }));
process.send?.(url);
