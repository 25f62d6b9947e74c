import { readFileSync, statSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createProgramRunner, type Program, readProgram } from '../../../../src/server/jobs/run/program.ts';
import type { TurnJob } from '../../../../src/server/jobs/run/runner.ts';
import { makeFolder, makeTestFolder, writeFiles } from '../../../support/folder.ts';
import { codeOf, thrownBy } from '../../thrown.ts';

const folder = await makeFolder();
const HELLO = `echo '{"v":[1],"kinds":["authoring.turn"]}' >&3; read -r job || exit 0;`;
const RESULT = `echo '{"result":{"outcome":"succeeded"}}' >&3`;

const BEGUN = `echo '{"progress":{}}' >&3`;

const job = { kind: 'authoring.turn', operationId: 'op_1', attempt: 1, deadlineAtMs: 9, graceMs: 100 };

const makeProgram = (script: string, over: Partial<Program> = {}): Program => ({
  folder,
  command: ['/bin/sh', '-c', script],
  env: { PATH: process.env['PATH'] ?? '' },
  secrets: {},
  ...over,
});

/** Starts a program, gives it a turn, and collects what it reports. */
async function work(script: string | Program, act: { isAborted?: boolean; over?: Partial<TurnJob> } = {}) {
  const program = typeof script === 'string' ? makeProgram(script) : script;
  const place = await makeTestFolder();
  const reported: object[] = [];
  const logs: string[] = [];
  const stopping = new AbortController();
  const runner = await createProgramRunner(program);
  const context = {
    signal: stopping.signal,
    folder: async () => place,
    progress: async (facts: object) => {
      reported.push(facts);
      if (act.isAborted === true) stopping.abort(new DOMException('stop', 'TimeoutError'));
    },
    log: async (text: string) => void logs.push(text),
  };
  const outcome = runner.run({ ...job, ...act.over } as TurnJob, context);
  const settled = await outcome.then(
    (value: unknown) => ({ value }),
    (error: { code?: string; message: string; name: string }) => ({ error }),
  );
  return { ...settled, reported, log: logs.join('|'), folder: place };
}

const failWith = async (script: string | Program, act = {}) => {
  const { error, log } = (await work(script, act)) as { error?: { code?: string }; log: string };
  return { code: error?.code, log };
};

it('a program gets one document, reports progress in order, and its result is returned', async () => {
  const script = `${HELLO} echo "$job" > "$TMPDIR/copy.json"; echo out; echo err >&2
    for n in 1 2 3; do echo "{\\"progress\\":{\\"turnsUsed\\":$n}}" >&3; done
    echo '{"result":{"outcome":"succeeded","resultText":"done"}}' >&3`;
  const {
    value,
    reported,
    log,
    folder: place,
  } = (await work(script)) as Awaited<ReturnType<typeof work>> & {
    value: unknown;
  };
  expect(value).toEqual({ outcome: 'succeeded', resultText: 'done' });
  expect(reported).toEqual([{ turnsUsed: 1 }, { turnsUsed: 2 }, { turnsUsed: 3 }]);
  expect(log.split('\n').toSorted().join(' ')).toBe(' err out');
  expect(JSON.parse(readFileSync(join(place, 'copy.json'), 'utf8'))).toEqual({ v: 1, ...job, folder: place });
});

it('a result that is too large for a line is read from a file of the folder', async () => {
  const long = `${HELLO} { printf '{"outcome":"succeeded","resultText":"'; head -c 2000000 /dev/zero | tr '\\0' x
    printf '"}'; } > "$TMPDIR/result.json"; echo '{"result":"result.json"}' >&3`;
  const { value } = (await work(long)) as { value?: { resultText: string } };
  expect(value?.resultText).toHaveLength(2_000_000);
  expect(await failWith(`${HELLO} echo '{"result":"none.json"}' >&3`)).toMatchObject({
    code: 'runner.EVENT_INVALID',
  });
});

it.each([
  ['prints nothing and ends', 'exit 0', 'runner.HELLO_INVALID'],
  ['prints nothing and waits', 'sleep 60', 'runner.HELLO_INVALID'],
  ['greets on standard output', `echo '{"v":[1],"kinds":["run.rerun"]}'`, 'runner.HELLO_INVALID'],
  ['prints garbage', 'echo hello >&3', 'runner.HELLO_INVALID'],
  ['greets with a list', 'echo [] >&3', 'runner.HELLO_INVALID'],
  ['has version 2 only', `echo '{"v":[2],"kinds":["run.rerun"]}' >&3`, 'runner.HELLO_INVALID'],
  ['names an unknown kind', `echo '{"v":[1],"kinds":["run.walk"]}' >&3`, 'runner.HELLO_INVALID'],
  ['names no kind', `echo '{"v":[1],"kinds":[]}' >&3`, 'runner.HELLO_INVALID'],
  ['ends with 3', 'exit 3', 'runner.EXIT'],
  ['greets endlessly', 'cat /dev/zero >&3', 'runner.TOO_LARGE'],
])('a program that %s is refused when it is loaded', async (_what, script, code) => {
  expect(await codeOf(createProgramRunner(makeProgram(script, { helloMs: 300 })))).toBe(code);
});

it('a program that has several versions and further members in its greeting is accepted', async () => {
  const script = `echo '{"v":[2,1],"kinds":["run.rerun","run.rerun"],"name":"x"}' >&3; exec sleep 60`;
  expect((await createProgramRunner(makeProgram(script))).kinds).toEqual(['run.rerun']);
});

it('the error of a program that cannot greet has its last output', async () => {
  const { message } = await thrownBy(
    createProgramRunner(makeProgram('echo first; echo no module named x; exit 1')),
  );
  expect(message).toContain('exit code 1; its last output: first | no module named x');
});

it('a program that is absent or may not be executed is not started', async () => {
  await writeFile(join(folder, 'plain.sh'), '#!/bin/sh\n');
  for (const program of ['./none.sh', './plain.sh', folder, 'a\0b'])
    expect(await codeOf(createProgramRunner(makeProgram('', { command: [program] })))).toBe(
      'runner.NOT_STARTED',
    );
  await writeFile(join(folder, 'runs.sh'), `#!/bin/sh\n${HELLO}`);
  await chmod(join(folder, 'runs.sh'), 0o755);
  expect((await createProgramRunner(makeProgram('', { command: ['./runs.sh'] }))).kinds).toHaveLength(1);
});

it.each([
  ['ends without a result', 'exit 0', 'runner.EXIT'],
  ['ends with 1 after its result', `${RESULT}; exit 1`, 'runner.EXIT'],
  ['is killed after its result', `${RESULT}; kill -9 $$`, 'runner.EXIT'],
  ['writes two results', `${RESULT}; ${RESULT}`, 'runner.EVENT_INVALID'],
  ['reports progress after its result', `${RESULT}; echo '{"progress":{}}' >&3`, 'runner.EVENT_INVALID'],
  ['writes garbage', `echo garbage >&3; ${RESULT}`, 'runner.EVENT_INVALID'],
  ['writes an empty line', `echo >&3; ${RESULT}`, 'runner.EVENT_INVALID'],
  ['writes an unknown event', `echo '{"note":{}}' >&3; ${RESULT}`, 'runner.EVENT_INVALID'],
  ['joins two events', `echo '{"progress":{},"result":{}}' >&3`, 'runner.EVENT_INVALID'],
  ['names a member twice', `echo '{"result":{},"result":{}}' >&3`, 'runner.EVENT_INVALID'],
  ['writes a result that is a number', `echo '{"result":5}' >&3`, 'runner.EVENT_INVALID'],
  ['leaves its last line open', `printf '{"result":{"outcome":"succeeded"}}' >&3`, 'runner.EXIT'],
  ['writes a line of 2 MB', `head -c 2000000 /dev/zero >&3; ${RESULT}`, 'runner.TOO_LARGE'],
  ['writes 10,001 events', `yes '{"progress":{}}' | head -n 10001 >&3; ${RESULT}`, 'runner.TOO_LARGE'],
  [
    'writes 17 MB of events',
    `head -c 1000000 /dev/zero | tr '\\0' ' ' > spaces
     for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do cat spaces; echo '{"progress":{}}'; done >&3; ${RESULT}`,
    'runner.TOO_LARGE',
  ],
])('a program that %s fails', async (_what, script, code) => {
  const failed = await failWith(`${HELLO} echo working; ${script}`);
  expect(failed.code).toBe(code);
  expect(failed.log).toMatch(new RegExp(`^working\\n(?:.*\\n)*drillproof: ${code}: `));
});

const reportLine = (bytes: number) =>
  `${HELLO} printf '{"progress":{"a":"' >&3; head -c ${bytes - 21} /dev/zero | tr '\\0' x >&3; echo '"}}' >&3; ${RESULT}`;

it('a line of exactly 1 MiB is accepted, and one more byte is not', async () => {
  expect(await failWith(reportLine(1024 * 1024))).toMatchObject({ code: undefined });
  expect(await failWith(reportLine(1024 * 1024 + 1))).toMatchObject({ code: 'runner.TOO_LARGE' });
});

it('progress that is refused ends the program with the error of the refusal', async () => {
  const runner = await createProgramRunner(
    makeProgram(`${HELLO} echo '{"progress":{}}' >&3; sleep 60; ${RESULT}`),
  );
  const context = {
    signal: new AbortController().signal,
    folder: async () => folder,
    progress: () => Promise.reject(new TypeError('refused')),
    log: async () => undefined,
  };
  await expect(runner.run(job as TurnJob, context)).rejects.toThrow('refused');
});

it('a program that ignores TERM is killed with its children after the grace period', async () => {
  const script = `trap '' TERM; ${HELLO} sleep 61.5 & echo $! > pid; echo begun; ${BEGUN}; wait; sleep 61.5`;
  const { error, log } = (await work(script, { isAborted: true })) as { error?: Error; log: string };
  expect(error?.name).toBe('TimeoutError');
  expect(log).toBe('begun\n');
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
  await expect.poll(() => isRunning(pid)).toBe(false);
});

it('a program that ends at TERM within the grace period can clean up', async () => {
  const script = `trap 'echo cleaned; exit 0' TERM; ${HELLO} ${BEGUN}; while :; do sleep 0.05; done`;
  const { log } = await work(script, { isAborted: true, over: { graceMs: 20_000 } });
  expect(log).toContain('cleaned\n');
});

const isRunning = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

it('a child that keeps the pipes open neither hangs the worker nor outlives the job', async () => {
  const script = `${HELLO} (echo from a child; exec sleep 62) & echo $! > held; ${RESULT}; echo last`;
  const { value, log } = (await work(script)) as { value?: unknown; log: string };
  expect(value).toEqual({ outcome: 'succeeded' });
  expect(log.split('\n').toSorted()).toEqual(['', 'from a child', 'last']);
  const pid = Number(await readFile(join(folder, 'held'), 'utf8'));
  await expect.poll(() => isRunning(pid)).toBe(false);
});

it('a child that writes a little after its parent ended loses no output', async () => {
  const { log } = await work(`${HELLO} (sleep 0.3; echo late) & ${RESULT}`);
  expect(log).toBe('late\n');
});

it('a child in a session of its own does not hang the worker', async () => {
  const script = `${HELLO} setsid sh -c 'echo $$ > escaped; exec sleep 63' & ${RESULT}; sleep 0.2`;
  const { value } = (await work(script)) as { value?: unknown };
  expect(value).toEqual({ outcome: 'succeeded' });
  process.kill(Number(await readFile(join(folder, 'escaped'), 'utf8')));
});

it('the last 64 KiB of the log are kept', async () => {
  const script = `${HELLO} echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last; ${RESULT}`;
  const { log } = await work(script);
  expect(log).toContain('last\n');
  expect(log).not.toContain('first');
});

const SECRET = 'p"a\\ss-wörd-1';
const withSecret = (script: string): Program => makeProgram(script, { secrets: { API_KEY: SECRET } });

it('secrets are in a file of mode 0600 and not in the document, the environment or the arguments', async () => {
  const script = `${HELLO} echo "$job" > "$TMPDIR/job"; env > "$TMPDIR/env"; ${RESULT}`;
  const { folder: place } = await work(withSecret(script));
  const read = (name: string) => readFileSync(join(place, name), 'utf8');
  const { secrets } = JSON.parse(read('job')) as { secrets: string };
  expect(secrets).toBe(join(place, 'secrets.json'));
  expect(statSync(secrets).mode & 0o777).toBe(0o600);
  expect(JSON.parse(read('secrets.json'))).toEqual({ API_KEY: SECRET });
  for (const name of ['job', 'env']) expect(read(name)).not.toContain('ss-w');
  expect(read('env')).not.toContain('API_KEY');
});

it('secrets are removed from events and the log, also where JSON escapes hide them', async () => {
  const escaped = JSON.stringify(SECRET)
    .replace('ö', String.raw`\u00f6`)
    .replace('p', String.raw`\u0070`);
  const plain = JSON.stringify(SECRET);
  const files = {
    'progress.json': `{"progress":{"${SECRET.replaceAll(/["\\]/g, String.raw`\$&`)}":[${escaped}]}}\n`,
    'result.json': `{"result":{"outcome":"succeeded","resultText":${escaped}}}\n`,
    'log.txt': `${SECRET}\n{"key":${plain}}\n {"key":${escaped}}\n{"other": 1}\n{half ${SECRET}\nBearer abcdefgh\n`,
  };
  await writeFiles(folder, files);
  const script = `${HELLO} cat progress.json >&3; cat log.txt; cat result.json >&3`;
  const { value, reported, log } = (await work(withSecret(script))) as Awaited<ReturnType<typeof work>> & {
    value?: unknown;
  };
  expect(value).toEqual({ outcome: 'succeeded', resultText: '[redacted]' });
  expect(reported).toEqual([{ '[redacted]': ['[redacted]'] }]);
  expect(log).toBe(
    '[redacted]\n{"key":"[redacted]"}\n{"key":"[redacted]"}\n{"other": 1}\n{half [redacted]\nBearer [redacted]\n',
  );
});

it('a secret in a malformed event is neither in the error nor in the log', async () => {
  const name = SECRET.replaceAll(/["\\]/g, String.raw`\$&`);
  await writeFiles(folder, { 'malformed.json': `{"${name}":1,"${name}":2}\n` });
  const { error, log } = (await work(withSecret(`${HELLO} cat malformed.json >&3; sleep 60`))) as {
    error?: Error;
    log: string;
  };
  expect(error).toMatchObject({ code: 'runner.EVENT_INVALID' });
  expect(`${error?.message} ${String(error?.cause)} ${log}`).not.toContain('ss-w');
});

it('no end of a secret remains at the beginning of a log that was cut', async () => {
  await writeFiles(folder, { 'many.txt': `${SECRET}\n`.repeat(40_000) });
  const { log } = await work(withSecret(`${HELLO} cat many.txt; ${RESULT}`));
  expect(new Set(log.split('\n').slice(1))).toEqual(new Set(['[redacted]', '']));
  expect('[redacted]').toContain(log.split('\n', 1)[0]);
});

it('a program has only the variables that runner.json names, and its secrets must be set', async () => {
  const place = await makeTestFolder();
  const env = { PATH: '/bin', DATABASE_URL: 'postgres://u:p@h/d', PROXY: 'x', API_KEY: 'long enough' };
  const read = async (value: object) => {
    await writeFile(join(place, 'runner.json'), JSON.stringify(value));
    return readProgram(place, env);
  };
  const command = ['true'];
  expect(await read({ command, environment: ['PROXY', 'ABSENT'], secrets: ['API_KEY'] })).toEqual({
    folder: place,
    command,
    env: { PATH: '/bin', PROXY: 'x' },
    secrets: { API_KEY: 'long enough' },
  });
  for (const wrong of [
    {},
    { command: [] },
    { command: [''] },
    { command: 'true' },
    { command, environment: [5] },
    { command, unknown: 1 },
    { command, secrets: ['ABSENT'] },
    { command, secrets: ['PROXY'] },
  ])
    expect(await codeOf(read(wrong))).toBe('server.CONFIG_INVALID');
  await writeFile(join(place, 'runner.json'), '{"command":["true"],"command":["false"]}');
  expect(await codeOf(readProgram(place, env))).toBe('server.CONFIG_INVALID');
});
