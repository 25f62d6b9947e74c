// Scrubs in a process that can be killed: `node scrub-child.ts ARCHIVE`. It prints each file once it was read.
import { writeSync } from 'node:fs';
import { scrubMany } from '../../../src/scrub/mirror.ts';
import { openScrubArchive } from '../../../src/node/scrub-archive.ts';

const archive = await openScrubArchive(process.argv[2] ?? '');
const damaged: string[] = [];
await scrubMany(
  archive,
  {
    tool: 'drillproof/test',
    olderThanMs: 86_400_000,
    onProgress: (event) => void (event.type === 'read' && writeSync(1, `${event.name}/${event.path}\n`)),
  },
  async ({ name, faults }) => void damaged.push(...faults.map(({ path }) => `${name}/${path}`)),
);
writeSync(1, `done ${JSON.stringify(damaged)}\n`);
