import { once } from 'node:events';
import { join } from 'node:path';
import { call, expectPass, scratch, SIGNER, start, writeEvidence, type CliResult } from '../make.ts';

const PROJECT = '--project prj_000000000001';
const ORGANIZATION = '--organization org_000000000001 --data plane';

/** Starts the control plane of the folder `plane`; gives its address and a function that stops it. */
export async function startPlane(cwd: string) {
  const server = start('serve --data plane --port 0', { cwd });
  server.stderr.resume(); // a full pipe would stop the server
  const [line] = await once(server.stdout, 'data');
  return {
    url: String(line).trim(),
    stop: async (): Promise<unknown> => {
      server.kill('SIGTERM');
      return (await once(server, 'exit'))[0];
    },
  };
}

const pass = (line: string) => expectPass(line, { now: Date.now });

/** Makes a control plane with two exports of one project, in a folder that becomes the current one. */
export async function servedExports() {
  const home = process.cwd();
  const dir = await scratch();
  await writeEvidence(dir.root);
  process.chdir(dir.root);
  await pass('admin org create --name Acme --id org_000000000001 --data plane');
  await pass(`admin project create ${ORGANIZATION} --id prj_000000000001 --name web`);
  await pass(`admin project create ${ORGANIZATION} --id prj_000000000002 --name empty`);
  await pass(`export part-2.zip --out second ${SIGNER}`);
  const ingest = async (folder: string): Promise<string> =>
    JSON.parse(await pass(`admin ingest export ${folder} --data plane --json`)).resource.evidenceExportId;
  const ids: readonly [string, string] = [await ingest('export'), await ingest('second')];
  const env = { DRILLPROOF_TOKEN: (await pass(`admin token create ${ORGANIZATION} --all-projects`)).trim() };
  const { url, stop } = await startPlane(dir.root);
  const run = (line: string | readonly string[], input = ''): Promise<CliResult> =>
    call(line, { env, now: Date.now, input });
  return {
    ids,
    url,
    path: (name: string) => join(dir.root, name),
    /** Runs any command line. */
    run,
    /** Runs a command line with the options of the project. */
    call: (line: string, input?: string) => run(`${line} ${PROJECT} --url ${url}`, input),
    async [Symbol.asyncDispose]() {
      await stop();
      process.chdir(home);
      await dir[Symbol.asyncDispose]();
    },
  };
}
