import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

export type Environment = Readonly<Record<string, string>>;

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** A program of this folder, and the first thing that it says. */
export async function startProgram(
  name: 'server-child.ts' | 'worker-child.ts',
  data: string,
  env: Environment,
): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const child = fork(path, [data], {
    execArgv: ['--conditions=drillproof:source'],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const [said] = (await once(child, 'message')) as [unknown];
  return { child, said: String(said) };
}

/** Lets a server die right after its nth transaction from now on. */
export async function arm(child: ChildProcess, transactions: number): Promise<void> {
  child.send(transactions);
  await once(child, 'message');
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
