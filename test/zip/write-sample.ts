// Prints the digest of a fixed archive; run in several time zones by write.test.ts.
import { createHash } from 'node:crypto';
import { zipOf } from './support.ts';

const archive = await zipOf({ 'manifest.json': '{}', 'objects/a.txt': 'some bytes, '.repeat(99) });
process.stdout.write(createHash('sha256').update(archive).digest('hex'));
