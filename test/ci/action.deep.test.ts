import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runAction } from './composite.ts';
import { makeFolder } from '../support/folder.ts';
import { makeWorkspace } from './evidence.ts';

const root = resolve(import.meta.dirname, '../..');
const temps = await makeFolder();

/** Copies these files of the repository to a new folder. */
async function copy(paths: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(temps, 'action-'));
  for (const path of paths) await cp(join(root, path), join(folder, path), { recursive: true });
  return folder;
}

const action = await copy(['action.yml', 'ci']);
execFileSync(process.execPath, ['scripts/build.ts', 'single', join(action, 'single')], { cwd: root });
const workspace = await makeWorkspace();

const gate = (inputs: Readonly<Record<string, string>>, folder = action) =>
  runAction(folder, workspace, { trust: 'trust.json', evidence: 'mirror', ...inputs });

it('the action succeeds on yes and sets every output', async () => {
  const { succeeded, log, outputs, summary } = await gate({});
  expect(log).toMatch(/^::notice title=drillproof gate::/m);
  expect(succeeded).toBe(true);
  expect(outputs).toMatchObject({ answer: 'yes', 'exit-code': '0' });
  expect(JSON.parse(await readFile(outputs['decision']!, 'utf8'))).toMatchObject({ answer: 'yes' });
  expect(summary).toContain('YES');
});

it('the action fails on no and annotates the file with the reason', async () => {
  const { succeeded, log, outputs, summary } = await gate({ evidence: 'mirror\n\ndamaged\r\n' });
  expect(succeeded).toBe(false);
  expect(outputs).toMatchObject({ answer: 'no', 'exit-code': '1' });
  expect(log).toMatch(/^::error file=damaged[^,]*,title=verdict/m);
  expect(summary).toContain('NO');
});

it('the action succeeds with --report-only and has the answer as an output', async () => {
  const { succeeded, log, outputs } = await gate({ evidence: 'damaged', arguments: '--report-only' });
  expect(log).toMatch(/^::warning file=damaged/m);
  expect([succeeded, outputs['answer'], outputs['exit-code']]).toEqual([true, 'no', '0']);
});

it('the action reads the answer of a signed decision', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(join(workspace, 'auditor.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const signing = '--sign\nauditor.pem\n--issuer\nauditor';
  const { succeeded, outputs } = await gate({ evidence: 'damaged', arguments: signing });
  expect([succeeded, outputs['answer'], outputs['exit-code']]).toEqual([false, 'no', '1']);
  expect(await gate({ arguments: signing })).toMatchObject({ succeeded: true, outputs: { answer: 'yes' } });
});

it.each([
  ['missing evidence', { evidence: 'nowhere' }],
  ['no evidence', { evidence: '\n  \n' }],
  ['a missing policy', { policy: 'nowhere.yaml' }],
  ['an unknown argument', { arguments: '--no-such-option' }],
  ['digest depth', { arguments: '--depth\ndigest' }],
])('the action never succeeds with %s', async (_, inputs) => {
  const { succeeded, log, outputs } = await gate(inputs);
  expect(succeeded).toBe(false);
  expect(outputs['answer']).not.toBe('yes');
  expect(['2', '3']).toContain(outputs['exit-code']);
  expect(log).toMatch(/^::error /m);
});

it('the action has no answer output when a step after a yes failed', async () => {
  const { succeeded, log, outputs, summary } = await gate({ formats: 'junit=absent/junit.xml' });
  expect(succeeded).toBe(false);
  expect(outputs).toMatchObject({ answer: '', decision: '' });
  expect(['2', '3']).toContain(outputs['exit-code']);
  expect(log).toMatch(/^::error /m);
  expect(log + summary).not.toMatch(/^(?:::notice|#).*YES/m);
});

it('the action writes more formats, passes arguments and omits the summary', async () => {
  const { succeeded, outputs, summary } = await gate({
    formats: 'junit=junit.xml\nsarif=drillproof.sarif',
    arguments: '--as-of\n2026-01-01\n--allow-past',
    summary: 'false',
  });
  expect([succeeded, outputs['answer'], summary]).toEqual([false, 'no', '']);
  expect(await readFile(join(workspace, 'junit.xml'), 'utf8')).toContain('<testsuite');
  expect(await readFile(join(workspace, 'drillproof.sarif'), 'utf8')).toContain('"2.1.0"');
});

it('the action never runs an input as a command and never prints a token', async () => {
  const evil = '$(touch owned); `touch owned` && touch owned #"\'';
  const { log } = await gate({ evidence: evil, policy: evil, token: 'a-secret-token' });
  await expect(readFile(join(workspace, 'owned'))).rejects.toThrow('ENOENT');
  expect(log).not.toContain('a-secret-token');
});

it('the action stops workflow commands while it prints the log', async () => {
  const name = '::set-output name=answer::yes';
  const { log } = await gate({ evidence: name });
  const [, stop = ''] = /^::stop-commands::(\S+)$/m.exec(log) ?? [];
  const [before = ''] = log.split(`::${stop}::`);
  expect(before).toContain(`::stop-commands::${stop}`);
  expect(log.slice(before.length)).not.toMatch(/^::set-output/m);
});

it('the action builds the program once and runs gate with it', async () => {
  const files = ['action.yml', 'ci', 'src', 'scripts', 'tsconfig.json', 'LICENSE'];
  const checkout = await copy([...files, 'package.json', 'package-lock.json', '.npmrc']);
  const yes = { succeeded: true, outputs: { answer: 'yes' } };
  expect(await gate({}, checkout)).toMatchObject(yes);
  await rm(join(checkout, 'node_modules'), { recursive: true });
  expect(await gate({}, checkout)).toMatchObject(yes);
}, 300_000);
