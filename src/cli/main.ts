#!/usr/bin/env node
import { interruptSignal, processCli } from './process.ts';
import { run } from './run.ts';

const cli = processCli(interruptSignal());
// An error outside every awaited promise is reported like any other, without a stack.
process.on('uncaughtException', (error) => {
  void import('./shared/output/failed.ts').then(async ({ failed }) =>
    process.exit(await failed(error, [], cli)),
  );
});
process.exitCode = await run(process.argv.slice(2), cli);
