import { readdir, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { parseInventory } from '../../../src/mirror/inventory.ts';
import { tries } from '../../support/deep.ts';
import { start } from '../make.ts';
import { servedExports } from './served-exports.ts';

const served = await servedExports();
afterAll(() => served[Symbol.asyncDispose]());

const KILLS = tries(12);

it('mirror --all that is killed at any moment lists no mirror that is not complete, and is completed by the next run', async () => {
  const token = (
    await served.run('admin token create --organization org_000000000001 --data plane --all-projects')
  ).stdout;
  const env = { DRILLPROOF_TOKEN: token.trim() };
  const line = `mirror --all --project prj_000000000001 --url ${served.url} --to killed`;
  for (let kill = 0; kill < KILLS; kill++) {
    if (kill % 4 === 0) await rm(served.path('killed'), { recursive: true, force: true });
    const child = start(line, { cwd: served.path('.'), env });
    const closed = once(child, 'close');
    await pause(150 + Math.random() * 700);
    child.kill('SIGKILL');
    await closed;
    const content = await readFile(served.path('killed/inventory.jsonl')).catch(() => new Uint8Array());
    for (const id of parseInventory(content).exports.keys())
      expect(await readdir(served.path(`killed/${id}`))).toContain('manifest.json');
  }
  expect((await served.call('mirror --all --to killed')).code).toBe(0);
  expect((await served.run('archive verify killed')).code).toBe(0);
  const { exports } = parseInventory(await readFile(served.path('killed/inventory.jsonl')));
  expect([...exports.keys()].toSorted()).toEqual(served.ids.toSorted());
});
