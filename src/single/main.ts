#!/usr/bin/env node
import { isMainThread } from 'node:worker_threads';

// One file is the program and each of its threads.
if (isMainThread) await import('../cli/main.ts');
else await import('../node/verify-worker.ts');
