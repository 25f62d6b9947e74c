/**
 * The limit of `mirror` of small parts in Node.js: eight connections, each body hashed and written into a file, with no
 * flush, no final name and no receipt. The digests come from `sha256sum`, not from a manifest that is verified.
 *
 *     node bare-mirror.ts URL SHA256SUMS < PATHS
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { basename } from 'node:path';

const [, , url = '', sums = ''] = process.argv;
const authorization = `Bearer ${process.env['DRILLPROOF_TOKEN']}`;
const digests = new Map(
  readFileSync(sums, 'latin1')
    .trim()
    .split('\n')
    .map((line) => [basename(line, '.zip'), line.slice(0, 64)]),
);
const paths = readFileSync(0, 'latin1').trim().split('\n').values();
const agent = new Agent({ keepAlive: true });

const fetchBytes = (path: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    get(url + path, { agent, headers: { authorization } }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve(Buffer.concat(pieces)));
    }).on('error', reject);
  });

async function fetchParts(): Promise<void> {
  for (const path of paths) {
    const bytes = await fetchBytes(path);
    const id = basename(path);
    if (hash('sha256', bytes) !== digests.get(id)) throw new Error(`${id} does not match`);
    await writeFile(`parts/${id}.zip`, bytes);
  }
}

mkdirSync('parts');
await Promise.all(Array.from({ length: 8 }, fetchParts));
agent.destroy();
