import { expect, it } from 'vitest';
import { call } from './make.ts';

it.each([
  [['verfy'], 'verify'],
  [['explain', '--jsn'], '--json'],
  [['explain', 'part.DIGEST_MISMACH'], 'part.DIGEST_MISMATCH'],
  [['explain', 'DIGEST_MISMATCH'], 'part.DIGEST_MISMATCH'],
  [['admin', 'tokn'], 'token'],
  [['admin', 'token', 'creat'], 'create'],
  [['keys', 'generate', '--ou', 'x'], '--out'],
  [['verify', 'x', '--expect-manifst', 'y'], '--expect-manifest'],
])('a wrong call %j is told what was meant', async (args, meant) => {
  const { code, stdout, stderr } = await call(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^drillproof: usage\.INVALID: .*\n {2}Did you mean .*\n$/);
  expect(stderr).toContain(meant);
});

it.each([
  [['verify']],
  [['explain', 'a', 'b']],
  [['explain', '--format', 'xml']],
  [['verify', 'x', '--jobs', '0']],
  [['verify', 'x', '--as-of', 'yesterday']],
  [['verify', 'x', '--key', 'key.pem,issuer=']],
  [['verify', 'x', '--format', 'text', '--format', 'text']],
  [['mirror', 'evexp_000000000001', '--to', 'x']],
  [['mirror', 'e', '--to', 'x', '--url', 'u', '--project', 'p', '--concurrency', 'many']],
  [['pack', 'x', '--run', 'r', '--out', 'o', '--role', 'a=b']],
  [['keys', 'add', 'k', '--issuer', 'i', '--trust', 't', '--purpose', 'everything']],
  [['admin', 'token', 'create', '--organization', 'o', '--permission', 'all']],
  [['admin', 'token', 'create', '--organization', 'o']],
  [['tool-source']],
  [['reports', 'x', '--url', 'http://127.0.0.1']],
  [['inspect', 'x', '--out', 'y']],
])('a wrong call %j has one line with the code, what to do, and exit code 2', async (args) => {
  const { code, stdout, stderr } = await call(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^drillproof: usage\.INVALID: .*\n {2}\S.*\n$/);
});

it('a wrong call is written as JSON to stdout with --json and both forms of --format', async () => {
  for (const json of [['--json'], ['--format', 'json'], ['--format=json']]) {
    const { code, stdout, stderr } = await call(['explain', 'nothing.SUCH', ...json]);
    expect(code).toBe(2);
    const parsed: unknown = JSON.parse(stdout);
    expect(parsed).toMatchObject({
      schemaVersion: 1,
      kind: 'error',
      code: 'usage.INVALID',
      class: 'usage',
      exitCode: 2,
    });
    expect(stderr).toContain('usage.INVALID');
  }
});

it.each([[['--token', 'dp_secret']], [['--token=dp_secret']], [['--password=dp_secret']]])(
  'a token in an argument %j is refused with the right way, and not repeated',
  async (args) => {
    const all = ['mirror', 'e', '--to', 'x', '--url', 'http://127.0.0.1', '--project', 'p', ...args];
    const { code, stdout, stderr } = await call([...all, '--json']);
    expect(code).toBe(2);
    expect(stderr).toContain('--token-file');
    expect(stdout + stderr).not.toContain('dp_secret');
  },
);

it('a token in an argument is not repeated from an option that does not exist either', async () => {
  const { stdout, stderr } = await call(['explain', '--tokn=dp_secret', '--json']);
  expect(stderr).toContain('unknown option --tokn');
  expect(stdout + stderr).not.toContain('dp_secret');
});

it('escapes what could act on a terminal in the words that it repeats', async () => {
  const { stdout, stderr } = await call(['explain', '\u001B[31mred\u0007', '--json']);
  expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});
