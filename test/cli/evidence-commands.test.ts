import { execFileSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/index.ts';
import { call as callWith, drillproof, NOW_MS, writeRun, useEvidenceFolder } from './make.ts';

const dir = useEvidenceFolder();

const ROLES = '--role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory';
const call = (line: string) => callWith(line.split(' '));
const json = async (line: string): Promise<Record<string, unknown>> =>
  JSON.parse((await call(`${line} --json`)).stdout) as Record<string, unknown>;

it('keys generate writes a private key with mode 600, and never prints it', async () => {
  const { code, stdout } = await call('keys generate --out own.pem --public own.txt');
  expect(code).toBe(0);
  expect((await stat('own.pem')).mode & 0o777).toBe(0o600);
  expect(stdout).not.toContain('PRIVATE');
  expect(await readFile('own.txt', 'utf8')).toContain('BEGIN PUBLIC KEY');
});

it('keys generate writes keys that openssl reads', () => {
  expect(execFileSync('openssl', ['pkey', '-in', 'key.pem', '-noout', '-check']).toString()).toContain(
    'valid',
  );
});

it('keys add adds a key with its limits, and keys list lists it', async () => {
  await call('keys generate --out second.pem');
  const add = 'keys add second.pub.pem --issuer other --trust limited.json --key-id k2 --purpose evidence';
  const limits =
    '--not-after 2027-12-31 --project prj_000000000001 --revoked-at 2026-11-01 --not-compromised';
  expect((await call(`${add} ${limits}`)).code).toBe(0);
  const { stdout } = await call('keys list limited.json');
  expect(stdout).toMatch(
    /other\nkey +k2\nvalid for +evidence\nperiod +to 2027-12-31 revoked 2026-11-01, earlier signatures stay valid\nonly for +prj_000000000001\n/,
  );
  const listed = await json('keys list limited.json');
  expect(listed).toMatchObject({
    keys: [{ kid: 'k2', issuer: 'other', compromised: false, purposes: ['evidence'] }],
  });
});

describe('pack', () => {
  it('pack writes the same bytes for the same input, unsigned and stored', async () => {
    const pack = `pack run-1 --run run-1.json --unsigned ${ROLES} --compression store`;
    await call(`${pack} --out a.zip`);
    await call(`${pack} --out b.zip`);
    expect(digestOf(await readFile('a.zip'))).toBe(digestOf(await readFile('b.zip')));
  });

  it('pack reports digest, size and manifest of the part', async () => {
    const product = await json(`pack run-1 --run run-1.json --unsigned ${ROLES} --out c.zip`);
    const bytes = await readFile('c.zip');
    expect(product).toMatchObject({
      kind: 'packed-bundle',
      digest: digestOf(bytes),
      bytes: bytes.length,
      objects: 5,
      signed: false,
    });
  });

  it('pack never includes the description of the run and its result as objects', async () => {
    await writeRun(dir.path('run-1'), 1);
    await call(`pack run-1 --run run-1/run-1.json --unsigned ${ROLES} --out d.zip`);
    const { manifest } = (await json('inspect d.zip')) as {
      manifest: { objects: readonly { path: string }[] };
    };
    const paths = manifest.objects.map(({ path }) => path);
    expect(paths).toContain('objects/run-result.json');
    expect(paths).not.toContain('objects/run-1.json');
    expect(paths).not.toContain('objects/result-1.json');
    const { rm } = await import('node:fs/promises');
    for (const name of ['run-1', 'run-1.json', 'result-1.json'])
      await rm(`run-1/${name}`, { recursive: true });
  });

  it('refuses a link in the folder instead of following it', async () => {
    const { symlink, rm } = await import('node:fs/promises');
    await symlink('/etc/passwd', 'run-1/link');
    const { code, stderr } = await call(`pack run-1 --run run-1.json --unsigned ${ROLES} --out e.zip`);
    await rm('run-1/link');
    expect(code).toBe(2);
    expect(stderr).toContain('io.KIND: link is neither');
  });

  it('writes to standard output for -, with the remarks on stderr', async () => {
    const { code, stdout, stderr } = await call(`pack run-1 --run run-1.json --unsigned ${ROLES} --out -`);
    expect(code).toBe(0);
    expect(stdout.startsWith('PK')).toBe(true);
    expect(stderr).toContain('evidence_000000000001');
  });

  it('replaces an existing part only with --force', async () => {
    await writeFile('old.zip', 'old');
    const pack = `pack run-1 --run run-1.json --unsigned ${ROLES} --out old.zip`;
    expect((await call(pack)).code).toBe(2);
    expect(await readFile('old.zip', 'utf8')).toBe('old');
    expect((await call(`${pack} --force`)).code).toBe(0);
  });
});

it('export writes a folder and a ZIP of the same tree, which unzip accepts', async () => {
  expect((await call('export part-1.zip part-2.zip --out one.zip --id evexp_000000000007')).code).toBe(0);
  const listed = execFileSync('unzip', ['-Z1', 'one.zip']).toString().trim().split('\n');
  expect(listed).toEqual([
    'manifest.json',
    'export.json',
    'parts/evidence_000000000001.zip',
    'parts/evidence_000000000002.zip',
  ]);
  execFileSync('unzip', ['-tq', 'one.zip']);
  expect((await readdir('export')).toSorted()).toEqual([
    'export-attestation.json',
    'export.json',
    'manifest.json',
    'parts',
  ]);
  expect(await json('verify one.zip --trust trust.json')).toMatchObject({
    verdict: 'verified',
    evidenceExportId: 'evexp_000000000007',
  });
});

it('export applies --scope, --from and --through', async () => {
  const from = new Date(NOW_MS - 10).toISOString();
  expect(
    (await call(`export part-1.zip --scope project --from ${from} --through 2025-01-01 --out scoped`)).code,
  ).toBe(0);
  const { manifest } = (await json('inspect scoped')) as { manifest: object };
  expect(manifest).toMatchObject({
    scope: { kind: 'project', projectId: 'prj_000000000001' },
    fromAtMs: NOW_MS - 10,
    throughAtMs: Date.UTC(2025, 0, 1),
  });
});

it('export accepts local reports, with claims of the uploader or from the archive', async () => {
  await writeFile('opaque.bin', 'anything');
  expect(
    (
      await call(
        'export part-1.zip --report opaque.bin --report part-2.zip,project=prj_000000000001 --through 2100-01-01 --out reported',
      )
    ).code,
  ).toBe(0);
  const { items } = (await json('reports reported')) as { items: readonly object[] };
  expect(items).toHaveLength(2);
  const report = await json('verify --jobs 1 reported --trust trust.json');
  expect(report).toMatchObject({
    verdict: 'verified',
    localReports: [{ verdict: 'intact' }, { verdict: 'intact' }],
  });
});

describe('verify', () => {
  it('reports verified for evidence that a trusted key signed, as text and as JSON', async () => {
    const { code, stdout, stderr } = await call('verify --jobs 1 export --trust trust.json');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^VERIFIED evexp_\w+: 2 of 2 parts verified; list attested\n/);
    expect(stdout).toContain('1 failed, 1 passed');
    expect(await json('verify --jobs 1 export --trust trust.json')).toMatchObject({
      verdict: 'verified',
      completeness: 'attested',
    });
  });

  it('verify fails evidence that does not meet an --expect option', async () => {
    const digest = digestOf(await readFile('export/manifest.json'));
    const pinned = await json(
      `verify --jobs 1 export --trust trust.json --expect-manifest ${digest} --expect-bundles 2 --expect-organization org_000000000001`,
    );
    expect(pinned).toMatchObject({ verdict: 'verified', completeness: 'pinned' });
    for (const expectation of [
      `--expect-manifest ${'0'.repeat(64)}`,
      '--expect-bundles 3',
      '--expect-project prj_000000000009',
      '--expect-export evexp_000000000009',
      '--expect-organization org_000000000009',
    ]) {
      expect((await call(`verify --jobs 1 export --trust trust.json ${expectation}`)).code, expectation).toBe(
        1,
      );
    }
  });

  it('verify --second-opinion adds two checks, which pass', async () => {
    const report = await json('verify part-1.zip --trust trust.json --second-opinion');
    const ids = (report['checks'] as readonly { id: string; state: string }[]).filter(({ id }) =>
      id.startsWith('second.'),
    );
    expect(ids.map(({ state }) => state)).toEqual(['passed', 'passed']);
  });

  it('gives several paths as one JSON document', async () => {
    const many = await json('verify part-1.zip absent --trust trust.json');
    expect(many).toMatchObject({
      kind: 'reports',
      results: [
        { path: 'part-1.zip', result: { verdict: 'verified' } },
        { path: 'absent', result: { kind: 'error', code: 'io.NOT_FOUND' } },
      ],
    });
  });

  it('gives the same bytes whatever the number of threads, the time zone and the locale', async () => {
    const line = ['verify', 'export', '--trust', 'trust.json', '--as-of', '2025-01-01', '--json', '--jobs'];
    const one = await callWith([...line, '1']);
    const env = { TZ: 'Asia/Kolkata', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
    const four = await drillproof([...line, '4'], { cwd: dir.root, env });
    expect(four.stdout).toBe(one.stdout);
  });

  it('colours only for a terminal, or when it is forced', async () => {
    const esc = '\u001B[';
    const args = ['verify', 'part-1.zip', '--trust', 'trust.json'];
    expect((await callWith(args)).stdout).not.toContain(esc);
    expect((await callWith(args, { env: { FORCE_COLOR: '1' } })).stdout).toContain(esc);
    expect((await callWith(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout).not.toContain(esc);
  });
});

describe('inspect', () => {
  it('shows an export, a part of it and a part alone without a verdict', async () => {
    expect((await call('inspect export')).stdout).toMatch(
      /list signed by +acme-ci[^]*evidence_000000000002[^]*OTHER FILE/,
    );
    const listed = await call('inspect export --bundle evidence_000000000001');
    expect(listed.stdout).toBe((await call('inspect part-1.zip')).stdout);
    expect(listed.stdout).toMatch(/objects\/journal\.jsonl +evidence/);
    expect(listed.stdout).not.toMatch(/verified/i);
  });

  it.each([
    ['export', 'list'],
    ['part-1.zip', 'part'],
    ['export --bundle evidence_000000000002', 'bundle'],
  ])('of %s writes a signature that openssl verifies by the command that it prints', async (what, out) => {
    const { code, stdout } = await call(
      `inspect --export-signature ${what} --trust trust.json --out sig-${out}`,
    );
    expect(code).toBe(0);
    const commands = stdout
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.trim());
    expect(execFileSync('sh', ['-c', commands[0]!]).toString()).toBe('Verified OK\n');
    const { statement } = {
      statement: JSON.parse(await readFile(`sig-${out}/statement.json`, 'utf8')) as {
        subject: { manifestDigest: string };
      },
    };
    expect(`sha256:${execFileSync('sh', ['-c', commands[1]!]).toString().slice(0, 64)}`).toBe(
      statement.subject.manifestDigest,
    );
  });

  it('inspect --export-signature writes no key without --trust or --key, and reports that', async () => {
    const { code, stdout, stderr } = await call('inspect --export-signature export --out sig-none');
    expect(code).toBe(0);
    expect(await readdir('sig-none')).toEqual(['signature.der', 'statement.json']);
    expect(stdout + stderr).toContain('--trust');
  });

  it('writes nothing when the trust store lacks the key', async () => {
    const { code, stderr } = await call(
      'inspect --export-signature export --trust limited.json --out sig-unknown',
    );
    expect([code, /trust\.KEY_UNKNOWN/.test(stderr)]).toEqual([1, true]);
    await expect(stat('sig-unknown')).rejects.toThrow();
  });
});

it('takes standard input for keys and descriptions of runs', async () => {
  const bytes = await readFile('trust.json');
  const listed = await callWith(['keys', 'list', '-'], {
    stdin: (async function* () {
      yield bytes;
    })(),
  });
  expect(listed.stdout).toContain('acme-ci');
});

it('prints nothing on stderr with --quiet', async () => {
  const { stderr } = await call('inspect --export-signature export --out sig-quiet --quiet');
  expect(stderr).toBe('');
});
