import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../../src/bytes/json/canonical.ts';
import { trustStoreJwks } from '../../../src/trust/store.ts';
import { makeExport, makeTrust } from '../../support/evidence.ts';
import { collectResult, PROGRAM } from '../../cli/make.ts';
import { makeTestFolder, writeFiles } from '../../support/folder.ts';
import { makeProject } from '../../support/project.ts';

/** A project with the programs of a page of docs/start, an export, and the trust store of its signer. */
export async function makeProgramProject(page: string, reports = 1) {
  const project = await makeProject(makeTestFolder);
  const text = readFileSync(`docs/start/${page}`, 'utf8');
  const blocks = text.matchAll(/^```\w+ (\w+\.\w+)\n([\s\S]*?)^```$/gm);
  await writeFiles(project, Object.fromEntries(Array.from(blocks, ([, name, code]) => [name, code])));
  const { files, signer } = await makeExport({ reports });
  await writeFiles(join(project, 'export'), files);
  await writeFiles(project, { 'trust.json': canonicalJson(trustStoreJwks(makeTrust(signer))) });
  return { project, files, signer };
}

/** Pastes a text into a shell in an empty folder, where `drillproof` is the built program. */
export async function pasteIntoShell(text: string) {
  const folder = await makeTestFolder();
  const program = [process.execPath, ...PROGRAM].map((word) => `'${word}'`).join(' ');
  await writeFiles(folder, { 'bin/drillproof': `#!/bin/sh\nexec ${program} "$@"\n` });
  chmodSync(join(folder, 'bin/drillproof'), 0o755);
  const cwd = join(folder, 'work');
  mkdirSync(cwd);
  const child = spawn('sh', ['-c', text], { cwd, env: { PATH: `${folder}/bin:${process.env['PATH']}` } });
  return { cwd, ...(await collectResult(child)) };
}
