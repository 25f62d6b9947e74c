import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { createAdmin } from '../../../src/server/admin/admin.ts';
import type { Stores } from '../../../src/server/open-stores.ts';
import { prepareWork } from '../jobs/make.ts';
import { createTenants, token } from '../make.ts';

/** Creates tenants with worlds and a build in new stores, and returns a token for everything. */
export async function prepareStores(stores: Pick<Stores, 'store' | 'blobs'>): Promise<string> {
  const admin = createAdmin(stores);
  await createTenants({ admin });
  await prepareWork({ admin });
  return token({ admin });
}

export type Environment = Readonly<Record<string, string>>;

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a program of this folder and waits for its first message. */
export async function startProgram(
  name: 'server-child.ts' | 'worker-child.ts',
  data: string,
  env: Environment,
): Promise<{ readonly child: ChildProcess; readonly message: string }> {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const child = fork(path, [data], {
    execArgv: ['--conditions=drillproof:source'],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const [message] = (await once(child, 'message')) as [unknown];
  return { child, message: String(message) };
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}
