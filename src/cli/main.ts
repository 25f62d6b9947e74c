#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// The young generation of the heap keeps its size, also in threads: it would grow to 134 MB, which makes only servers
// faster. From 8 MB on, collecting it costs little.
if (!['serve', 'worker'].includes(process.argv[2] ?? ''))
  for (const flag of ['--min-semi-space-size=8', '--semi-space-growth-factor=1']) setFlagsFromString(flag);

try {
  const { interruptSignal, processCli } = await import('./process.ts');
  const { run } = await import('./run.ts');
  const cli = processCli(interruptSignal());
  // An error outside every awaited promise is reported like any other, without a stack.
  process.on('uncaughtException', (error) => {
    void import('./shared/output/failed.ts').then(async ({ failed }) =>
      process.exit(await failed(error, [], cli)),
    );
  });
  process.exitCode = await run(process.argv.slice(2), cli);
} catch (error) {
  // An old Node.js cannot load it, and would end with 1, which means bad evidence.
  const version = `Node.js ${process.versions.node}`;
  process.stderr.write(`drillproof: usage.INVALID: it cannot be loaded by ${version}: ${String(error)}\n`);
  process.stderr.write('  Install Node.js 22.13 or later.\n');
  process.exitCode = 2;
}
