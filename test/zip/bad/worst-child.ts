// Reads an archive to its end by the strict reader; prints what ended it and the most memory that it took.
import { existsSync, readFileSync } from 'node:fs';
import { openFile } from '../../../src/node/evidence/file-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { openZip } from '../../../src/zip/read/open.ts';

const access = await openFile(process.argv[2]!);
const started = performance.now();
const outcome = await read().catch((error: unknown) => {
  if (error instanceof DrillproofError) return error.code;
  throw error;
});
const ms = Math.round(performance.now() - started);
// What the kernel gives with the usage of a process includes what its parent had when it started it.
const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
const peakKiB = Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
const rssBytes = peakKiB * 1_024;
process.stdout.write(JSON.stringify({ outcome, rssBytes, ms }));

async function read(): Promise<string> {
  const archive = await openZip(access);
  for (const entry of archive.entries) for await (const _ of archive.read(entry));
  return 'read';
}
