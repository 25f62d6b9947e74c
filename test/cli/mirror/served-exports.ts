import { once } from 'node:events';
import { join } from 'node:path';
import { call, scratch, start, writeEvidence } from '../make.ts';

const AT = '--project prj_000000000001';
const ORGANIZATION = '--organization org_000000000001';

/** A control plane that serves two exports of one project, and a folder to work in, which becomes the current one. */
export async function servedExports() {
  const home = process.cwd();
  const dir = await scratch();
  await writeEvidence(dir.root);
  process.chdir(dir.root);
  await must('admin org create --name Acme --id org_000000000001 --data plane');
  await must(`admin project create ${ORGANIZATION} --id prj_000000000001 --name web --data plane`);
  await must(`admin project create ${ORGANIZATION} --id prj_000000000002 --name empty --data plane`);
  await must('export part-2.zip --out second --key key.pem --issuer acme-ci');
  const ingest = async (folder: string): Promise<string> =>
    idIn(await must(`admin ingest export ${folder} --data plane --json`));
  const ids: readonly [string, string] = [await ingest('export'), await ingest('second')];
  const token = (await must(`admin token create ${ORGANIZATION} --all-projects --data plane`)).trim();
  const server = start(['serve', '--data', 'plane', '--port', '0'], { cwd: dir.root });
  const [first] = await once(server.stdout, 'data');
  const url = String(first).trim();
  const run = (line: string, input = '') =>
    call(line.split(' '), { env: { DRILLPROOF_TOKEN: token }, now: Date.now, stdin: bytesOf(input) });
  return {
    ids,
    url,
    path: (name: string) => join(dir.root, name),
    /** Any command line. */
    run,
    /** One that asks the control plane about the project. */
    call: (line: string, input?: string) => run(`${line} ${AT} --url ${url}`, input),
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM');
      await once(server, 'exit');
      process.chdir(home);
      await dir[Symbol.asyncDispose]();
    },
  };
}

async function must(line: string): Promise<string> {
  const { code, stdout, stderr } = await call(line.split(' '), { now: Date.now });
  if (code !== 0) throw new Error(`${line}: ${stderr}`);
  return stdout;
}

function idIn(json: string): string {
  const { evidenceExportId } = (JSON.parse(json) as { resource: { evidenceExportId: string } }).resource;
  return evidenceExportId;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}
