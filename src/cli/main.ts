#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { interruptSignal, processCli } from './process.ts';
import { run } from './run.ts';

// The young generation of the heap keeps its size, also in threads: it would grow to 134 MB, which makes only servers
// faster. From 8 MB on, collecting it costs little.
if (!['serve', 'worker'].includes(process.argv[2] ?? ''))
  for (const flag of ['--min-semi-space-size=8', '--semi-space-growth-factor=1']) setFlagsFromString(flag);

const cli = processCli(interruptSignal());
// An error outside every awaited promise is reported like any other, without a stack.
process.on('uncaughtException', (error) => {
  void import('./shared/output/failed.ts').then(async ({ failed }) =>
    process.exit(await failed(error, [], cli)),
  );
});
process.exitCode = await run(process.argv.slice(2), cli);
