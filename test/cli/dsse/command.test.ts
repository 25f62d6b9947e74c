import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { parseDsse } from '../../../src/trust/index.ts';
import { call, drillproof, scratch, writeEvidence } from '../make.ts';

type Dir = Awaited<ReturnType<typeof scratch>>;
let dir: Dir;
let openssl: string[];
const at = (name: string): string => dir.path(name);

beforeAll(async () => {
  dir = await scratch();
  await writeEvidence(dir.root);
  openssl = ['--signer', `openssl dgst -sha256 -sign '${at('key.pem')}'`, '--public-key', at('key.pub.pem')];
  await make([
    'pack',
    at('run-1'),
    '--run',
    at('run-1.json'),
    ...ROLES,
    '--unsigned',
    '--out',
    at('unsigned.zip'),
  ]);
  await make(['dsse', 'create', at('part-1.zip'), ...signer(), '--out', at('part.json')]);
  await make(['dsse', 'create', at('export'), ...signer(), '--out', at('export.json')]);
});
afterAll(() => dir[Symbol.asyncDispose]());

const ROLES = ['journal.jsonl=evidence', 'state.json=state', 'trace.json=trajectory'].flatMap((role) => [
  '--role',
  role,
]);
const signer = (): string[] => ['--key', at('key.pem'), '--issuer', 'acme-ci'];
const trust = (): string[] => ['--trust', at('trust.json')];
async function make(args: readonly string[]): Promise<void> {
  expect(await call(args)).toMatchObject({ code: 0 });
}
const ended = async (args: readonly string[]): Promise<[number, string]> => {
  const { code, stdout } = await call([...args, '--json']);
  return [code, stdout];
};

const verified = (envelope: string, subject: string) =>
  ended(['dsse', 'verify', at(envelope), '--subject', at(subject), ...trust()]);

describe('drillproof dsse', () => {
  it('signs a part, and reports the part as the subject of the envelope', async () => {
    const [code, said] = await ended([
      'dsse',
      'verify',
      at('part.json'),
      '--subject',
      at('part-1.zip'),
      ...trust(),
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(said)).toMatchObject({
      kind: 'attestation',
      verdict: 'valid',
      signer: { issuer: 'acme-ci' },
    });
  });

  it('dsse verify refuses every other subject', async () => {
    expect((await verified('part.json', 'part-2.zip'))[0]).toBe(1);
    expect((await verified('part.json', 'export'))[0]).toBe(1);
    expect((await verified('export.json', 'part-1.zip'))[0]).toBe(1);
    expect((await verified('export.json', 'export'))[0]).toBe(0);
    expect((await verified('export.json', 'export/manifest.json'))[0]).toBe(0);
    expect((await verified('part.json', 'export/manifest.json'))[0]).toBe(1);
    expect((await verified('trust.json', 'part-1.zip'))[0]).toBe(1);
  });

  it('needs the keys that were asked for, each once', async () => {
    const args = [
      'dsse',
      'verify',
      at('part.json'),
      '--subject',
      at('part-1.zip'),
      ...trust(),
      '--threshold',
      '2',
    ];
    const [code, said] = await ended(args);
    expect(code).toBe(1);
    expect(said).toContain('dsse.THRESHOLD_MISSED');
  });

  it('reads the envelope from standard input and writes it to standard output', async () => {
    const written = await drillproof(['dsse', 'create', at('part-1.zip'), ...signer(), '--out', '-']);
    expect(written.code).toBe(0);
    expect(parseDsse(toUtf8(written.stdout)).payloadType).toBe('application/vnd.in-toto+json');
    const answer = await drillproof(['dsse', 'verify', '-', '--subject', at('part-1.zip'), ...trust()], {
      input: written.stdout,
    });
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.stdout).toContain('VALID');
  });

  it('signs nothing that does not verify', async () => {
    const bytes = await readFile(at('unsigned.zip'));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(at('damaged.zip'), bytes);
    const { code } = await call(['dsse', 'create', at('damaged.zip'), ...signer(), '--out', at('no.json')]);
    expect(code).toBe(1);
    await expect(readFile(at('no.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('an existing envelope is replaced only with --force', async () => {
    await copyFile(at('part.json'), at('there.json'));
    const create = ['dsse', 'create', at('part-1.zip'), ...signer(), '--out', at('there.json')];
    expect((await call(create)).code).toBe(2);
    expect((await call([...create, '--force'])).code).toBe(0);
  });

  const wrong: [string, () => string[]][] = [
    ['nobody to sign', () => ['dsse', 'create', at('part-1.zip'), '--out', at('x.json')]],
    ['nobody to trust', () => ['dsse', 'verify', at('part.json'), '--subject', at('part-1.zip')]],
    [
      'a subject that is neither',
      () => ['dsse', 'verify', at('part.json'), '--subject', at('trust.json'), ...trust()],
    ],
    [
      'two to sign',
      () => ['dsse', 'create', at('part-1.zip'), ...signer(), ...openssl, '--out', at('x.json')],
    ],
    [
      'a public key without a program',
      () => [
        'dsse',
        'create',
        at('part-1.zip'),
        ...signer(),
        '--public-key',
        at('key.pub.pem'),
        '--out',
        at('x.json'),
      ],
    ],
    [
      'a program without an issuer',
      () => ['dsse', 'create', at('part-1.zip'), ...openssl, '--out', at('x.json')],
    ],
    [
      'a pipe as a program',
      () => ['dsse', 'create', at('part-1.zip'), '--signer', 'a | b', '--issuer', 'i', '--out', at('x.json')],
    ],
    [
      'two paths for several envelopes',
      () => [
        'verify',
        at('part-1.zip'),
        at('part-2.zip'),
        '--dsse',
        at('part.json'),
        '--dsse',
        at('export.json'),
      ],
    ],
    [
      'two paths for one envelope',
      () => ['verify', at('part-1.zip'), at('part-2.zip'), '--dsse', at('part.json'), ...trust()],
    ],
  ];
  it.each(wrong)('is a wrong call with %s', async (_, args) => {
    expect((await call(args())).code).toBe(2);
  });
});

describe('drillproof verify --dsse', () => {
  it('verifies a part that carries no attestation, and fails it by an envelope about another', async () => {
    expect((await ended(['verify', at('unsigned.zip'), ...trust()]))[0]).toBe(1);
    expect((await ended(['verify', at('unsigned.zip'), ...trust(), '--dsse', at('part.json')]))[0]).toBe(0);
    expect((await ended(['verify', at('part-2.zip'), ...trust(), '--dsse', at('part.json')]))[0]).toBe(1);
  });

  it('an envelope attests the list of an export, whatever the number of threads', async () => {
    await make(['export', at('part-1.zip'), at('part-2.zip'), '--out', at('claimed')]);
    await make(['dsse', 'create', at('claimed'), ...signer(), '--out', at('claimed.json')]);
    for (const jobs of ['1', '2']) {
      const [code, said] = await ended([
        'verify',
        at('claimed'),
        ...trust(),
        '--dsse',
        at('claimed.json'),
        '--jobs',
        jobs,
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(said)).toMatchObject({ verdict: 'verified', completeness: 'attested' });
    }
    expect((await ended(['verify', at('claimed'), ...trust(), '--dsse', at('export.json')]))[0]).toBe(1);
  });

  it('assigns several by their subjects, and fails if one has no subject in the evidence', async () => {
    await make(['export', at('unsigned.zip'), '--out', at('bare')]);
    await make(['dsse', 'create', at('bare'), ...signer(), '--out', at('bare.json')]);
    const given = (...names: readonly string[]) =>
      ended(['verify', at('bare'), ...trust(), ...names.flatMap((name) => ['--dsse', at(name)])]);
    const [code, said] = await given('part.json', 'bare.json');
    expect([code, JSON.parse(said)]).toMatchObject([0, { verdict: 'verified', completeness: 'attested' }]);
    expect((await given('bare.json'))[0]).toBe(1);
    await make(['dsse', 'create', at('part-2.zip'), ...signer(), '--out', at('part-2.json')]);
    const [bad, why] = await given('part.json', 'bare.json', 'part-2.json');
    expect([bad, why]).toEqual([1, expect.stringContaining('dsse.SUBJECT_UNKNOWN')]);
    expect((await given('part.json', 'absent.json'))[0]).toBe(2);
  });

  it('reads standard input once', async () => {
    const args = ['verify', at('unsigned.zip'), ...trust(), '--dsse', '-'];
    const input = await readFile(at('part.json'), 'utf8');
    expect((await drillproof(args, { input })).code).toBe(0);
    expect((await drillproof([...args, '--dsse', '-'], { input })).code).toBe(2);
  });

  it('is a wrong call with more than 10,000', async () => {
    const envelopes = (n: number) => Array.from({ length: n }, () => ['--dsse', at('absent.json')]).flat();
    const [code, said] = await ended(['verify', at('unsigned.zip'), ...trust(), ...envelopes(10_001)]);
    expect([code, said]).toEqual([2, expect.stringContaining('10001')]);
  });
});

it('a key that stays where it is signs parts, exports and envelopes by the openssl command, and verify takes them', async () => {
  const signing = [...openssl, '--issuer', 'acme-ci'];
  await make([
    'pack',
    at('run-1'),
    '--run',
    at('run-1.json'),
    ...ROLES,
    ...signing,
    '--out',
    at('by-command.zip'),
  ]);
  await make(['export', at('by-command.zip'), ...signing, '--out', at('by-command')]);
  await make(['dsse', 'create', at('unsigned.zip'), ...signing, '--out', at('by-command.json')]);
  expect((await ended(['verify', at('by-command.zip'), ...trust()]))[0]).toBe(0);
  const [code, said] = await ended(['verify', at('by-command'), ...trust()]);
  expect(code).toBe(0);
  expect(JSON.parse(said)).toMatchObject({ completeness: 'attested' });
  expect((await ended(['verify', at('unsigned.zip'), ...trust(), '--dsse', at('by-command.json')]))[0]).toBe(
    0,
  );
});

it.each([
  ['ends with an error', 'false', 3, 'trust.SIGNER_FAILED'],
  ['writes something else', 'echo hello', 3, 'trust.SIGNER_OUTPUT'],
  ['takes too long', 'sleep 30', 3, 'trust.SIGNER_TIMEOUT'],
  ['is not there', 'no-such-program', 3, 'trust.SIGNER_FAILED'],
])('a key that stays where it is writes nothing when the program %s', async (_, command, exit, code) => {
  const args = [
    '--signer',
    command,
    '--public-key',
    at('key.pub.pem'),
    '--signer-timeout',
    '1',
    '--issuer',
    'i',
  ];
  const out = ['--out', at('nothing.zip'), '--json'];
  const said = await call(['pack', at('run-1'), '--run', at('run-1.json'), ...ROLES, ...args, ...out], {
    env: process.env,
  });
  expect([said.code, JSON.parse(said.stdout)]).toMatchObject([exit, { code }]);
  await expect(readFile(at('nothing.zip'))).rejects.toMatchObject({ code: 'ENOENT' });
});
