import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import {
  call,
  callJson,
  drillproof,
  expectExit,
  expectPass,
  NOW_MS,
  ROLES,
  SIGNER,
  useEvidenceFolder,
  writeRun,
} from './make.ts';

const dir = useEvidenceFolder();

const PACK = `pack run-1 --run run-1.json --unsigned ${ROLES}`;
const TRUST = '--trust trust.json --jobs 1';
const KEYS = '--trust trust.json';
const CASES = JSON.stringify({
  schemaVersion: 1,
  kind: 'policy-cases',
  cases: ['first', 'second'].map((name) => ({ name, evidence: ['export'], answer: 'could_not_tell' })),
});

it('keys generate writes a private key with mode 600, and never prints it', async () => {
  const stdout = await expectPass('keys generate --out own.pem --public own.txt');
  expect((await stat('own.pem')).mode & 0o777).toBe(0o600);
  expect(stdout).not.toContain('PRIVATE');
  expect(await readFile('own.txt', 'utf8')).toContain('BEGIN PUBLIC KEY');
});

it('keys generate writes keys that openssl reads', () => {
  const args = ['pkey', '-in', 'key.pem', '-noout', '-check'];
  expect(execFileSync('openssl', args).toString()).toContain('valid');
});

it('keys add adds a key with its limits, and keys list lists it', async () => {
  await call('keys generate --out second.pem');
  const add = 'keys add second.pub.pem --issuer other --trust limited.json --key-id k2 --purpose evidence';
  await expectPass(`${add} --not-after 2027-12-31 --project prj_000000000001`);
  await expectPass('keys revoke k2 --at 2026-11-01 --not-compromised --trust limited.json');
  expect(await expectPass('keys list limited.json')).toMatch(
    /other\nkey +k2\nvalid for +evidence\nperiod +to 2027-12-31 revoked 2026-11-01, earlier signatures stay valid\nonly for +prj_000000000001\n/,
  );
  const key = { kid: 'k2', issuer: 'other', compromised: false, purposes: ['evidence'] };
  expect(await callJson('keys list limited.json')).toMatchObject({ keys: [key] });
});

describe('pack', () => {
  it('pack --example prints a run, or writes one that pack reads', async () => {
    const printed = await expectPass('pack --example');
    await expectPass('pack --example example');
    expect(await readFile('example.json', 'utf8')).toBe(printed);
    await expectPass(`pack example --run example.json ${SIGNER} ${ROLES} --out example.zip`);
    expect((await readdir('example')).toSorted()).toEqual(['journal.jsonl', 'state.json', 'trace.json']);
    await expectExit('pack --example example', 2, 'io.EXISTS');
  });

  it('pack writes the same bytes for the same input, unsigned and stored', async () => {
    for (const name of ['a', 'b']) await expectPass(`${PACK} --compression store --out ${name}.zip`);
    expect(await readFile('a.zip')).toEqual(await readFile('b.zip'));
  });

  it('pack reports digest, size and manifest of the part', async () => {
    const product = await callJson(`${PACK} --out c.zip`);
    const bytes = await readFile('c.zip');
    const facts = { digest: digestOf(bytes), bytes: bytes.length, objects: 5, signed: false };
    expect(product).toMatchObject({ kind: 'packed-bundle', ...facts });
  });

  it('pack never includes the description of the run and its result as objects', async () => {
    await writeRun(dir.path('run-1'), 1);
    await expectPass(`${PACK.replace('run-1.json', 'run-1/run-1.json')} --out d.zip`);
    const { stdout } = await call('inspect d.zip');
    expect(stdout).toContain('objects/run-result.json');
    for (const name of ['run-1.json', 'result-1.json']) expect(stdout).not.toContain(`objects/${name}`);
    for (const name of ['run-1', 'run-1.json', 'result-1.json'])
      await rm(`run-1/${name}`, { recursive: true });
  });

  it('pack refuses a link in the folder', async () => {
    await symlink('/etc/passwd', 'run-1/link');
    await expectExit(`${PACK} --out e.zip`, 2, 'io.KIND: link is neither');
    await rm('run-1/link');
  });

  it('pack --out - writes the part to standard output, and the summary to standard error', async () => {
    const { code, stdout, stderr } = await call(`${PACK} --out -`);
    expect([code, stdout.slice(0, 2)]).toEqual([0, 'PK']);
    expect(stderr).toContain('evidence_000000000001');
  });
});

it('export writes a folder and a ZIP of the same tree, which unzip accepts', async () => {
  await expectPass('export part-1.zip part-2.zip --out one.zip --id evexp_000000000007');
  const parts = [1, 2].map((n) => `parts/evidence_00000000000${n}.zip`);
  const names = execFileSync('unzip', ['-Z1', 'one.zip']).toString().trim().split('\n');
  expect(names).toEqual(['manifest.json', 'export.json', ...parts]);
  execFileSync('unzip', ['-tq', 'one.zip']);
  const files = ['export-attestation.json', 'export.json', 'manifest.json', 'parts'];
  expect((await readdir('export')).toSorted()).toEqual(files);
  const report = { verdict: 'verified', evidenceExportId: 'evexp_000000000007' };
  expect(await callJson('verify one.zip --trust trust.json')).toMatchObject(report);
});

it('export applies --scope, --from and --through', async () => {
  const from = new Date(NOW_MS - 10).toISOString();
  await expectPass(`export part-1.zip --scope project --from ${from} --through 2025-01-01 --out scoped`);
  const { manifest } = await callJson('inspect scoped');
  expect(manifest).toMatchObject({
    scope: { kind: 'project', projectId: 'prj_000000000001' },
    fromAtMs: NOW_MS - 10,
    throughAtMs: Date.UTC(2025, 0, 1),
  });
});

it('export accepts local reports, with claims of the uploader or from the archive', async () => {
  await writeFile('opaque.bin', 'anything');
  const reports = '--report opaque.bin --report part-2.zip,project=prj_000000000001';
  await expectPass(`export part-1.zip ${reports} --through 2100-01-01 --out reported`);
  expect((await callJson('inspect reported')).manifest.localReports).toHaveLength(2);
  const report = { verdict: 'verified', localReports: [{ verdict: 'intact' }, { verdict: 'intact' }] };
  expect(await callJson(`verify reported ${TRUST}`)).toMatchObject(report);
});

describe('verify', () => {
  it('verify reports verified for evidence that a trusted key signed, as text and as JSON', async () => {
    const { code, stdout, stderr } = await call(`verify export ${TRUST}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^VERIFIED evexp_\w+: 2 of 2 parts verified; list attested(?:; drills: .*)?\n/);
    expect(stdout).toContain('1 failed, 1 passed');
    const report = { verdict: 'verified', completeness: 'attested' };
    expect(await callJson(`verify export ${TRUST}`)).toMatchObject(report);
  });

  it('verify accepts pins that hold', async () => {
    const digest = digestOf(await readFile('export/manifest.json'));
    const pins = `--expect-manifest ${digest} --expect-bundles 2 --expect-organization org_000000000001`;
    const report = { verdict: 'verified', completeness: 'pinned' };
    expect(await callJson(`verify export ${TRUST} ${pins}`)).toMatchObject(report);
  });

  it.each([
    `--expect-manifest ${'0'.repeat(64)}`,
    '--expect-bundles 3',
    '--expect-project prj_000000000009',
    '--expect-export evexp_000000000009',
    '--expect-organization org_000000000009',
  ])('verify ends with 1 for evidence that does not meet %s', async (pin) => {
    await expectExit(`verify export ${TRUST} ${pin}`, 1);
  });

  it('verify --second-opinion adds two checks, which pass', async () => {
    const { checks } = await callJson('verify part-1.zip --trust trust.json --second-opinion');
    const second = (checks as { id: string }[]).filter(({ id }) => id.startsWith('second.'));
    expect(second).toMatchObject([{ state: 'passed' }, { state: 'passed' }]);
  });

  it('verify reports several paths in one JSON document', async () => {
    const results = [
      { path: 'part-1.zip', result: { verdict: 'verified' } },
      { path: 'absent', result: { kind: 'error', code: 'io.NOT_FOUND' } },
    ];
    const reports = await callJson('verify part-1.zip absent --trust trust.json');
    expect(reports).toMatchObject({ kind: 'reports', results });
  });

  it('verify prints the same bytes for any number of threads, time zone and locale', async () => {
    const line = 'verify export --trust trust.json --as-of 2025-01-01 --json --jobs';
    const env = { TZ: 'Asia/Kolkata', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
    const { stdout } = await drillproof(`${line} 4`, { cwd: dir.root, env });
    expect(stdout).toBe(await expectPass(`${line} 1`));
  });

  it('verify uses colours only for a terminal, or with FORCE_COLOR', async () => {
    const esc = '\u001B[';
    const line = 'verify part-1.zip --trust trust.json';
    expect((await call(line)).stdout).not.toContain(esc);
    expect((await call(line, { env: { FORCE_COLOR: '1' } })).stdout).toContain(esc);
    expect((await call(line, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain(esc);
  });
});

describe('inspect', () => {
  it('inspect prints an export, a part of it and a part alone without a verdict', async () => {
    const contents = /list signed by +acme-ci[^]*evidence_000000000002[^]*OTHER FILE/;
    expect(await expectPass('inspect export')).toMatch(contents);
    const text = await expectPass('inspect export --bundle evidence_000000000001');
    expect(text).toBe(await expectPass('inspect part-1.zip'));
    expect(text).toMatch(/objects\/journal\.jsonl +evidence/);
    expect(text).toMatch(/\noutcome +passed, completed\n/);
    expect(text).toMatch(/\n {2}objects\/journal\.jsonl\n {2}\| \S/);
    expect(text).not.toMatch(/verified/i);
  });

  it.each([
    ['export', 'list'],
    ['part-1.zip', 'part'],
    ['export --bundle evidence_000000000002', 'bundle'],
  ])(
    'inspect --export-signature %s writes a signature that openssl verifies as printed',
    async (words, out) => {
      const line = `inspect --export-signature ${words} --trust trust.json --out sig-${out}`;
      const [verify = ''] = (await expectPass(line)).match(/(?<=^ {2})\S.*/gm) ?? [];
      expect(execFileSync('sh', ['-c', verify]).toString()).toBe('Verified OK\n');
      const { subject } = JSON.parse(await readFile(`sig-${out}/statement.json`, 'utf8'));
      const { manifestDigest } = await callJson(`inspect ${words}`);
      expect(subject).toMatchObject({ manifestDigest });
    },
  );

  it('inspect --export-signature writes no key without --trust or --key, and reports that', async () => {
    await expectExit('inspect --export-signature export --out sig-none', 0, 'pass --trust FILE');
    expect(await readdir('sig-none')).toEqual(['signature.der', 'statement.json']);
  });

  it('inspect --export-signature writes nothing when the trust store lacks the key', async () => {
    const line = 'inspect --export-signature export --trust limited.json --out sig-unknown';
    await expectExit(line, 1, 'trust.KEY_UNKNOWN');
    await expect(stat('sig-unknown')).rejects.toThrow();
  });
});

it('keys list reads a trust store from standard input', async () => {
  await expectExit('keys list -', 0, 'acme-ci', { input: await readFile('trust.json', 'utf8') });
});

it('inspect --quiet prints nothing on standard error', async () => {
  const { stderr } = await call('inspect --export-signature export --out sig-quiet --quiet');
  expect(stderr).toBe('');
});

it.each([
  'keys generate --out quiet.pem',
  'keys add quiet.pub.pem --issuer quiet --trust quiet.json',
  `${PACK} --out quiet.zip`,
  'export quiet.zip --out evexp_000000000009 --id evexp_000000000009',
  'scrub evexp_000000000009',
  `verify export ${TRUST} --format json=quiet-a.json`,
  'verify quiet.zip --accept intact --format json=quiet-b.json',
  'diff quiet-a.json quiet-b.json',
  'inspect --export-signature export --out quiet-signature',
  'inspect export',
  'inspect quiet.zip',
  'keys list trust.json',
  'pack --example quiet-run',
  'policy init quiet.yaml',
  'policy explain',
  'policy check quiet.yaml',
  'policy test quiet.yaml quiet-cases.json',
  'explain',
  'explain part.DIGEST_MISMATCH',
  'explain part.bytes',
  'explain intact',
  'mirror --from export --to quiet-mirror',
  'receipts list quiet-mirror',
  'receipts verify quiet-mirror',
  `challenge issue --drill refund --build ${'0'.repeat(64)} --ttl 1h ${SIGNER} --ledger quiet.jsonl`,
  'challenge list quiet.jsonl',
  `dsse create quiet.zip ${SIGNER} --out quiet.dsse.json`,
  `dsse verify quiet.dsse.json --subject quiet.zip ${KEYS}`,
])('%s --quiet prints one line', async (line) => {
  await writeFile('quiet-cases.json', CASES);
  const { code, stdout } = await call(`${line} --quiet`);
  expect([code, stdout]).toEqual([code < 2 ? code : 0, expect.stringMatching(/^[^\n]+\n$/)]);
});

it.each([
  ['keys list trust.json', /^\d keys?$/],
  ['explain', /^\d+ codes, \d+ checks$/],
  ['explain part.bytes', /^part\.bytes: A pass states: \S.*$/],
  ['policy explain', /^default: 14 rules$/],
  ['policy test quiet.yaml quiet-cases.json', /^0 of 2 cases hold$/],
])('%s --quiet prints a total or a sentence, and not the first of many lines', async (line, expected) => {
  await writeFile('quiet-cases.json', CASES);
  await call('policy init quiet.yaml');
  expect((await call(`${line} --quiet`)).stdout.trimEnd()).toMatch(expected);
});

it.each([
  [['verify', 'export', '--key', 'a key.pem'], "pass --key 'a key.pem',issuer=acme-ci\n"],
  [['verify', 'export', '--trust', 'a key.pem'], "--key 'a key.pem',issuer=NAME"],
  [['verify', 'export', '--key', 'a store.json,issuer=me'], "Pass --trust 'a store.json' instead."],
  [['policy', 'init', 'a policy.yaml'], "\n  drillproof policy check 'a policy.yaml'\n"],
])('%j quotes a path with a space in its advice, so that it can be copied', async (words, advice) => {
  await writeFile('a key.pem', await readFile('key.pub.pem'));
  await writeFile('a store.json', await readFile('trust.json'));
  expect((await call(words)).stderr).toContain(advice);
});
