import { isMainThread } from 'node:worker_threads';

// The single file is the program and the module of its threads.
await (isMainThread ? import('../cli/main.ts') : import('../node/verify-worker.ts'));
