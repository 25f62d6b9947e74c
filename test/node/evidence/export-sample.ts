// Prints the digest of a fixed export. yazl-export.test.ts runs it in several time zones.
import { createHash } from 'node:crypto';
import { zipExport } from '../../../src/node/evidence/yazl-export.ts';

const hash = createHash('sha256');
const file = {
  path: 'manifest.json',
  bytes: 2,
  async *open() {
    yield Buffer.from('{}');
  },
};
await zipExport([file], hash);
process.stdout.write((hash.read() as Buffer).toString('hex'));
