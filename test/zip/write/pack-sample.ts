// Packs one bundle, its objects in the order that ORDER asks for; prints a digest for each compression.
import { createHash } from 'node:crypto';
import { packBundle, type ObjectInput } from '../../../src/evidence/bundle/pack-bundle.ts';

const object = (name: string, text: string): ObjectInput => ({
  path: `objects/${name}`,
  mediaType: 'text/plain',
  async *open() {
    yield Buffer.from(text);
  },
});

const objects = [
  object('a.txt', 'some text. '.repeat(900)),
  object('B.txt', ''),
  object('größe.txt', 'x'),
  object('日本.txt', 'more text. '.repeat(20_000)),
];

const packed = await packBundle({
  evidenceBundleId: 'evidence_000000000001',
  organizationId: 'org_000000000001',
  projectId: 'prj_000000000001',
  hostedRunId: 'hrun_000000000001',
  runId: 'run_test-1-run',
  createdAtMs: 1_790_000_000_000,
  objects: process.env['ORDER'] === 'reversed' ? objects.toReversed() : objects,
});

async function digestOf(compression: 'store' | 'deflate'): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of packed.archive({ compression })) hash.update(chunk);
  return hash.digest('hex');
}

process.stdout.write(
  JSON.stringify({
    node: process.versions.node,
    zlib: process.versions.zlib,
    store: await digestOf('store'),
    deflate: await digestOf('deflate'),
  }),
);
