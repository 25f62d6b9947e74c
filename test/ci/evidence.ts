import { trustStoreJwks } from '../../src/trust/store.ts';
import { flipBit, makeExport, makeTrust } from '../support/evidence.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { join } from 'node:path';

/** A workspace of a CI job: `mirror` is good, `damaged` has one flipped bit, `trust.json` trusts their key. */
export async function makeWorkspace(): Promise<string> {
  const folder = await makeFolder();
  const { files, signer } = await makeExport();
  const [path = ''] = Object.keys(files);
  await writeFiles(join(folder, 'mirror'), files);
  await writeFiles(join(folder, 'damaged'), { ...files, [path]: flipBit(files[path]!, 200) });
  await writeFiles(folder, { 'trust.json': JSON.stringify(trustStoreJwks(makeTrust(signer))) });
  return folder;
}
