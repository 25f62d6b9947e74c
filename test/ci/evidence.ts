import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { trustStoreJwks } from '../../src/trust/index.ts';
import { flipped, makeExport, makeTrust } from '../support/evidence.ts';

/** A workspace of a CI job: `mirror` is good, `damaged` has one flipped bit, `trust.json` trusts their key. */
export async function makeWorkspace(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drillproof-workspace-'));
  const { files, signer } = await makeExport();
  const [path = ''] = Object.keys(files);
  const trees = { mirror: files, damaged: { ...files, [path]: flipped(files[path]!, 200) } };
  for (const [name, tree] of Object.entries(trees))
    for (const [file, bytes] of Object.entries(tree)) {
      await mkdir(dirname(join(folder, name, file)), { recursive: true });
      await writeFile(join(folder, name, file), bytes);
    }
  await writeFile(join(folder, 'trust.json'), JSON.stringify(trustStoreJwks(makeTrust(signer))));
  return folder;
}
