import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeFiles } from '../../support/folder.ts';
import { ROLES, SIGNER, writeRun } from '../../cli/make.ts';
import { buildArchive } from '../../server/make.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A program as users get it: its words, and where and as whom it runs. */
export type Installed = {
  readonly program: readonly string[];
  readonly cwd: string;
  readonly user: { readonly uid?: number; readonly gid?: number };
};

/** A command line that was tried, with its expected and its actual exit code. */
export type Trial = {
  readonly line: string;
  readonly expected: number;
  readonly code: number | null;
  readonly output: string;
};

/** Runs a program until it ends. */
export function runProgram(installed: Installed, words: readonly string[]) {
  const [program = '', ...first] = installed.program;
  return spawnSync(program, [...first, ...words], {
    ...inFolder(installed),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
}

/** Every command without commands of its own, as `--help` lists them: `verify`, `keys add`, `admin token create`. */
export function listCommands(installed: Installed, path: readonly string[] = []): string[] {
  const { stdout } = runProgram(installed, [...path, '--help']);
  const [, ...sections] = path.length === 0 ? stdout.split('\n\n') : stdout.split('Commands:\n');
  const names = sections
    .flatMap((section) => (path.length === 0 ? [section] : section.split('\n\n').slice(0, 1)))
    .flatMap((section) =>
      Array.from(section.matchAll(/^ {2}([a-z][a-z-]*)\S*(?= .*\S)/gm), ([, name = '']) => name),
    )
    .filter((name) => name !== 'help');
  return names.length === 0
    ? [path.join(' ')]
    : names.flatMap((name) => listCommands(installed, [...path, name]));
}

/** The build in the example. */
const BUILD = `sha256:${'1'.repeat(64)}`;

/** Writes what a user has: the files of two runs, a build, worlds to import, cases of a policy, and claims. */
export async function writeInputs(folder: string): Promise<{ readonly buildHash: string }> {
  await writeRun(folder, 1);
  await writeRun(folder, 2);
  const { bytes, buildHash } = await buildArchive();
  const worlds = readFileSync(join(ROOT, 'docs/examples/import.json'), 'utf8');
  const cases = [{ name: 'a failed drill', evidence: ['export'], answer: 'no' }];
  const digest = `sha256:${'4f'.repeat(32)}`;
  const summary = {
    runId: 'run_local-1',
    drillId: 'check',
    targetId: 'web',
    reportedBuildHash: digest,
    reportedPackageLockHash: digest,
    seed: '1',
    reportedStatus: 'completed',
    artifactCount: 3,
    expandedBytes: 1024,
    redacted: false,
  };
  const claims = { manifestDigest: digest, uploadedBy: 'jane', createdAtMs: 1_700_000_000_000, summary };
  await writeFiles(folder, {
    'build.zip': bytes,
    'worlds.json': worlds.replaceAll('0123456789ab', '000000000001').replaceAll(BUILD, buildHash),
    'cases.json': JSON.stringify({ schemaVersion: 1, kind: 'policy-cases', cases }),
    'claims.json': JSON.stringify(claims),
    'runner.js': readFileSync(join(ROOT, 'docs/examples/runner.js')),
    'work.js': WORK,
  });
  return { buildHash };
}

/** A program of a user: it sends a turn and a rerun, and waits until a worker has done both. */
const WORK = `
  import { createClient } from 'drillproof/client';
  const [baseUrl, token] = process.argv.slice(2);
  const client = createClient({ baseUrl, token });
  const inProject = { projectId: 'prj_000000000001' };
  const session = { ...inProject, authoringSessionId: 'authsess_000000000001' };
  const { turn, operation } = await client.authoring.turns.create({ ...session, prompt: 'say this louder' });
  const rerun = await client.runs.reruns.create({ ...inProject, hostedRunId: 'hrun_000000000001' });
  for (const { operationId } of [operation, rerun.operation])
    await client.operations.wait({ ...inProject, operationId }, { timeoutMs: 60_000 });
  const { authoringTurnId } = turn;
  const { state, resultText } = await client.authoring.turns.read({ ...session, authoringTurnId });
  const run = await client.runs.read({ ...inProject, hostedRunId: rerun.run.hostedRunId });
  console.log(state, resultText, run.state);
`;

const ORGANIZATION = '--organization org_000000000001';
const PROJECT = '--project prj_000000000001';
const TRUST = '--trust trust.json';
const VECTORS = '../node_modules/drillproof/dist/vectors.zip';
const EXPORT = 'evexp_000000000009';
const PERMISSIONS = ['evidence.read', 'run.write', 'authoring.write', 'build.read']
  .map((name) => `--permission ${name}`)
  .join(' ');
const DIGEST = `sha256:${'0'.repeat(64)}`;
const PURPOSES = ['evidence', 'export', 'report', 'summary'].map((name) => `--purpose ${name}`).join(' ');

type Line = readonly [line: string, exit: number];

const MAKE: readonly Line[] = [
  ['keys generate --out key.pem', 0],
  ['keys generate --out old.pem', 0],
  [`keys add key.pub.pem --issuer acme-ci ${PURPOSES} ${TRUST}`, 0],
  [`keys add old.pub.pem --issuer old --key-id old ${TRUST}`, 0],
  ['keys list trust.json', 0],
  [`keys set old --not-after 2030-01-01 ${TRUST}`, 0],
  [`keys revoke old --at 2026-01-01 --not-compromised ${TRUST}`, 0],
  [`pack run-1 --run run-1.json ${SIGNER} ${ROLES} --out part-1.zip`, 0],
  [`pack run-2 --run run-2.json ${SIGNER} ${ROLES} --out part-2.zip`, 0],
  [`export part-1.zip part-2.zip ${SIGNER} --out export`, 0],
  [`export part-1.zip part-2.zip ${SIGNER} --out zipped.zip`, 0],
];

const CHECK: readonly Line[] = [
  ['inspect export', 0],
  [`verify export ${TRUST} --require-list`, 0],
  [`verify damaged ${TRUST}`, 1],
  [`verify export ${TRUST} --format json=good.json`, 0],
  [`verify damaged ${TRUST} --format json=bad.json`, 1],
  ['diff good.json bad.json', 1],
  [`verify export ${TRUST} --sign key.pem --issuer acme-ci --format json=signed.json`, 0],
  [`report verify signed.json ${TRUST}`, 0],
  ['report show good.json --format html=year.html', 2], // needs the optional package echarts
  ['policy init policy.yaml', 0],
  ['policy check policy.yaml', 0],
  ['policy explain policy.yaml', 0],
  ['policy diff policy.yaml policy.yaml', 0],
  [`policy test policy.yaml cases.json ${TRUST}`, 0],
  [`gate damaged --policy policy.yaml ${TRUST}`, 1],
  [
    `gate part-1.zip ${TRUST} --vsa vsa.json --vsa-key key.pem --verifier-id urn:gate --resource-uri urn:app`,
    1, // the default policy wants an export
  ],
  [`vsa verify vsa.json ${TRUST} --expect-verifier urn:gate`, 1],
  ['vsa sign vsa.json --add --key old.pem --issuer urn:gate --out two.json', 0],
  [`dsse create part-1.zip ${SIGNER} --out part.dsse.json`, 0],
  [`dsse verify part.dsse.json --subject part-1.zip ${TRUST}`, 0],
  [`challenge issue --drill checkout --build ${DIGEST} --ttl 1h ${SIGNER} --ledger ledger.jsonl`, 0],
  ['challenge list ledger.jsonl', 0],
  ['challenge verify ledger.jsonl', 3],
  ['timestamp part-1.zip --tsa http://127.0.0.1:9', 3],
  ['explain part.DIGEST_MISMATCH', 0],
  [`selftest --kind hex --vectors ${VECTORS}`, 0],
];

const DATA = '--data data';
const ADMINISTER: readonly Line[] = [
  [`admin org create --id org_000000000001 --name Acme ${DATA}`, 0],
  [`admin org entitle ${ORGANIZATION} --max-session-ttl-ms 86400000 ${DATA}`, 0],
  [`admin project create ${ORGANIZATION} --id prj_000000000001 --name Shop ${DATA}`, 0],
  [`admin migrate ${DATA}`, 0],
  [`admin ingest build build.zip ${PROJECT} ${DATA}`, 0],
  [`admin ingest bundle part-1.zip ${PROJECT} ${DATA}`, 0],
  [`admin ingest local-report part-2.zip ${PROJECT} --metadata claims.json ${DATA}`, 0],
  [`admin ingest export export ${DATA}`, 0],
  [`admin import worlds.json ${DATA}`, 0],
];

const FINISH: readonly Line[] = [
  [`admin operation cancel op_000000000001 ${ORGANIZATION} ${DATA}`, 2], // it does not exist
  [`admin operation log op_000000000001 ${ORGANIZATION} ${DATA}`, 2],
  ['runner test runner.js', 0],
  [`admin delete bundle evidence_000000000001 ${PROJECT} --now ${DATA}`, 0],
  [`admin delete export ${EXPORT} ${ORGANIZATION} --now ${DATA}`, 0],
  [`admin retention --rule operations=90 ${DATA}`, 0],
  [`admin prune --dry-run ${DATA}`, 0],
  [`admin prune ${DATA}`, 0],
  [`admin sweep ${DATA}`, 0],
  [`admin backup --out backup.sqlite ${DATA}`, 0],
  [`admin check ${DATA}`, 0],
  [`admin clock ${DATA}`, 0],
  [`admin restore-check ${DATA}`, 0],
];

/** Tries every command of a program at least once with real input, as a user who has `writeInputs` in a folder. */
export async function tryEveryCommand(
  installed: Installed,
  { buildHash }: { readonly buildHash: string },
): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  const attempt = (line: string, expected = 0): string => {
    const { status, stdout, stderr } = runProgram(installed, line.match(/\S+/g) ?? []);
    trials.push({ line, expected, code: status, output: stdout + stderr });
    return stdout;
  };
  const attemptAll = (lines: readonly Line[]): void =>
    lines.forEach(([line, expected]) => attempt(line, expected));
  attemptAll(MAKE);
  damageExport(installed);
  attemptAll(CHECK);
  attemptAll(ADMINISTER);

  attempt(
    `admin export create ${ORGANIZATION} --id ${EXPORT} --from 2020-01-01 --now --signing-key key.pem --issuer acme-ci ${DATA}`,
  );
  const created = attempt(`admin token create ${ORGANIZATION} --all-projects ${PERMISSIONS} --json ${DATA}`);
  const { token, tokenId } = JSON.parse(created) as { token: string; tokenId: string };
  await writeFiles(installed.cwd, { token });
  attempt(`admin token list ${ORGANIZATION} ${DATA}`);
  attempt(`admin token rotate ${tokenId} --overlap 1h ${DATA}`);

  const server = await startProgram(installed, `serve ${DATA} --port 0`);
  const worker = await startProgram(installed, `worker ${DATA} --runner runner.js`);
  const url = String(server.output['url']);
  const remote = `${PROJECT} --url ${url} --token-file token`;
  attempt(`mirror ${EXPORT} ${remote} --to archive/${EXPORT}`);
  attempt(`mirror --all ${remote} --to archive`);
  attempt(`scrub archive ${TRUST}`);
  attempt('archive list archive');
  attempt('archive verify archive --rehearse 1');
  attempt('archive pack archive --to tape');
  attempt('archive acknowledge archive none --by me --reason none', 2);
  for (const command of ['hold', 'release'])
    attempt(`archive ${command} archive ${EXPORT} --by me --reason none`);
  attempt('archive remove archive evexp_000000000000 --by me --reason none', 2);
  attempt('receipts list archive');
  attempt('receipts verify archive');
  attempt(`reports ${EXPORT} ${remote}`);
  attempt(`tool-source ${buildHash} greeter ${remote} --source mailer.js`);
  const work = spawnSync(process.execPath, ['work.js', url, token], {
    ...inFolder(installed),
    encoding: 'utf8',
  });
  trials.push({
    line: 'a turn and a rerun',
    expected: 0,
    code: work.stdout === 'succeeded SAY THIS LOUDER succeeded\n' ? 0 : 1,
    output: work.stdout + work.stderr,
  });
  trials.push({ line: 'worker', expected: 0, code: await worker.stop(), output: worker.log() });
  trials.push({ line: 'serve', expected: 0, code: await server.stop(), output: server.log() });

  attemptAll(FINISH);
  attempt(`admin token revoke ${tokenId} ${DATA}`);
  return trials;
}

export const inFolder = ({ cwd, user }: Installed) => ({
  cwd,
  env: { PATH: process.env['PATH'], HOME: cwd },
  ...user,
});

/** Copies the export, with one changed byte in a part, as the user. */
function damageExport({ cwd, user }: Installed): void {
  const program = `cp -R export damaged && printf X | dd of=damaged/parts/evidence_000000000002.zip bs=1 seek=200 conv=notrunc status=none`;
  spawnSync('/bin/sh', ['-c', program], { cwd, ...user });
}

/** Starts a program that runs until it is stopped, and waits for its first line of JSON. */
async function startProgram(installed: Installed, line: string) {
  const [program = '', ...first] = installed.program;
  const child = spawn(program, [...first, ...line.split(' '), '--json'], inFolder(installed));
  let log = '';
  child.stderr.on('data', (chunk) => (log += String(chunk)));
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };
  return { output: JSON.parse(String(output)) as Record<string, unknown>, stop, log: () => log };
}
