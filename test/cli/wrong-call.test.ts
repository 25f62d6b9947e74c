import { expect, it } from 'vitest';
import { call } from './make.ts';
import { refuseUsers } from '../../src/cli/shared/options/values.ts';

it.each([
  ['verfy', 'verify'],
  ['explain --jsn', '--json'],
  ['explain part.DIGEST_MISMACH', 'part.DIGEST_MISMATCH'],
  ['explain DIGEST_MISMATCH', 'part.DIGEST_MISMATCH'],
  ['admin tokn', 'token'],
  ['admin token creat', 'create'],
  ['keys generate --ou x', '--out'],
  ['verify x --expect-manifst y', '--expect-manifest'],
])('the wrong call "%s" gets the suggestion %s', async (line, suggestion) => {
  const { code, stdout, stderr } = await call(line);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^drillproof: usage\.INVALID: .*\n {2}Did you mean .*\n$/);
  expect(stderr).toContain(suggestion);
});

it.each([
  'verify',
  'explain a b',
  'explain --format xml',
  'verify x --jobs 0',
  'verify x --as-of yesterday',
  'verify x --key key.pem,issuer=',
  'verify x --format text --format text',
  'gate x --policy strict.yaml --policy weak.yaml',
  'mirror evexp_000000000001 --to x',
  'mirror e --to x --url u --project p --concurrency many',
  'pack x --run r --out o --role a=b',
  'keys add k --issuer i --trust t --purpose everything',
  'admin token create --organization o --permission all',
  'admin token create --organization o',
  'tool-source',
  'reports x --url http://127.0.0.1',
  'inspect x --out y',
])('the wrong call "%s" ends with 2, and one line has the code and one the advice', async (line) => {
  const { code, stdout, stderr } = await call(line);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^drillproof: usage\.INVALID: .*\n {2}\S.*\n$/);
});

it.each(['--json', '--format json', '--format=json'])(
  '%s writes a wrong call as JSON to stdout',
  async (option) => {
    const { code, stdout } = await call(`explain nothing.SUCH ${option}`);
    const error = { kind: 'error', code: 'usage.INVALID', class: 'usage', exitCode: 2 };
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { schemaVersion: 1, ...error }]);
  },
);

it.each(['explain', 'keys list trust.json', 'verify x'])(
  '%s refuses --json with --format text, of which one would be ignored',
  async (line) => {
    const { code, stderr } = await call(`${line} --json --format text`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('usage.INVALID')]);
  },
);

it.each(['--token dp_secret', '--token=dp_secret', '--password=dp_secret'])(
  'a token in the argument %s is refused and not repeated, and the advice names --token-file',
  async (option) => {
    const line = `mirror e --to x --url http://127.0.0.1 --project p ${option} --json`;
    const { code, stdout, stderr } = await call(line);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--token-file')]);
    expect(stdout + stderr).not.toContain('dp_secret');
  },
);

it.each([
  'verify ftp://me:s3cret@h/x other --json',
  'verify other //me:s3cret@h/x',
  'verify http:me:s3cret@h',
  'verify https:/me:s3cret@h/x --format=html=out.html',
  String.raw`inspect https:\\me:s3cret@h`,
  'gate s3://me:s3cret@bucket/e --policy p.yaml',
  'gate e --policy https://me:s3cret@h/p.yaml',
  'gate e --policy https://me@h/p.yaml?token=s3cret#sha256:00',
  'mirror e --to x --url=https://me:s3cret@h --project p',
  'verify e --format=html=ftp://me:s3cret@h/out',
  'verify https://me:a#s3cret@h/x',
  'verify https://me:a/s3cret@h/x',
  'gate e --policy git:HEAD:http://me:s3cret@h',
])('an address with a password is refused and not repeated: %s', async (line) => {
  const { code, stdout, stderr } = await call(line);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/usage\.INVALID: .*…@/)]);
  expect(stdout + stderr).not.toMatch(/s3cret|me:/);
});

it.each([
  's3://bucket/a@b',
  'a//b@c',
  'git:main:a@b.yaml',
  './me@h',
  'https://h:8080/a@b',
  'postgres://me:s3cret@h/db',
])('the word %s is not taken for an address with a password that nobody needs', (word) =>
  expect(() => refuseUsers([word])).not.toThrow(),
);

it('a token in an unknown option is not repeated', async () => {
  const { stdout, stderr } = await call('explain --tokn=dp_secret --json');
  expect(stderr).toContain('unknown option --tokn');
  expect(stdout + stderr).not.toContain('dp_secret');
});

it('control characters in the words of a wrong call are escaped', async () => {
  const { stdout, stderr } = await call('explain \u001B[31mred\u0007 --json');
  expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});
