import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { call as callHere, drillproof, scratch, type CliResult, useEvidenceFolder } from '../make.ts';
import { isDeep } from '../../support/deep.ts';

const dir = useEvidenceFolder(async () => {
  await mkdir('empty');
  await mkdir('stranger');
  await writeFile('stranger/readme.txt', 'no export');
  await writeFile('cut.zip', await readFile('part-1.zip'));
  await truncate('cut.zip', 1000);
  await writeFile(
    'rsa.pem',
    execFileSync('openssl', ['genrsa', '2048'], { stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  await writeFile('token', 'dp_live_but_unknown\n');
  await writeFile('nothing', '');
});

const call = (line: string): Promise<CliResult> => callHere(line.split(' '));

const ONE_LINE = /^drillproof: ([a-z-]+\.[A-Z0-9_]+): .+\n(?: {2}- .+\n)* {2}\S.+\n$/;
const codeOf = (ended: CliResult): string =>
  ONE_LINE.exec(ended.stderr)?.[1] ?? `no such line: ${ended.stderr}`;
const REMOTE = '--project prj_000000000001 --url http://127.0.0.1:9';
const PACK =
  '--key key.pem --issuer acme-ci --role journal.jsonl=evidence --role state.json=state --role trace.json=trajectory';

describe('bad input', () => {
  it.each([
    ['verify absent', 'io.NOT_FOUND', 2],
    ['verify empty', 'export.NOT_AN_EXPORT', 2],
    ['verify stranger', 'export.NOT_AN_EXPORT', 2],
    ['verify part-1.zip --trust absent.json', 'io.NOT_FOUND', 2],
    ['verify part-1.zip --trust stranger', 'io.KIND', 2],
    ['verify part-1.zip --trust nothing', 'trust.STORE_INVALID', 2],
    ['verify part-1.zip --trust key.pem', 'usage.INVALID', 2],
    ['verify part-1.zip --key key.pem,issuer=acme-ci', 'trust.KEY_PRIVATE', 2],
    ['verify part-1.zip --key rsa.pem,issuer=acme-ci', 'trust.KEY_PRIVATE', 2],
    ['verify part-1.zip --expect-export evexp_000000000001', 'usage.INVALID', 2],
    ['verify part-1.zip --format json=part-2.zip', 'io.EXISTS', 2],
    ['inspect absent', 'io.NOT_FOUND', 2],
    ['inspect empty', 'export.NOT_AN_EXPORT', 2],
    ['inspect cut.zip', 'zip.NOT_A_ZIP', 1],
    ['inspect export --bundle evidence_000000000009', 'usage.INVALID', 2],
    ['inspect export --export-signature --out empty/x --key rsa.pem,issuer=i', 'trust.KEY_PRIVATE', 2],
    ['pack absent --run run-1.json --unsigned --out out.zip', 'io.NOT_FOUND', 2],
    ['pack run-1 --run absent.json --unsigned --out out.zip', 'io.NOT_FOUND', 2],
    ['pack run-1 --run nothing --unsigned --out out.zip', 'pack.INPUT_INVALID', 2],
    ['pack run-1 --run result-1.json --unsigned --out out.zip', 'pack.INPUT_INVALID', 2],
    ['pack run-1 --run run-1.json --key rsa.pem --issuer i --out out.zip', 'trust.KEY_UNSUPPORTED', 2],
    ['pack run-1 --run run-1.json --key key.pub.pem --issuer i --out out.zip', 'trust.KEY_PUBLIC', 2],
    ['pack run-1 --run run-1.json --key key.pem --issuer i --out out.zip', 'pack.INPUT_INVALID', 2],
    [`pack run-1 --run run-1.json ${PACK} --out part-2.zip`, 'io.EXISTS', 2],
    [`pack run-1 --run run-1.json ${PACK} --out absent/out.zip`, 'io.NOT_FOUND', 2],
    ['export absent.zip --out new', 'io.NOT_FOUND', 2],
    ['export cut.zip --out new', 'zip.NOT_A_ZIP', 1],
    ['export part-1.zip --out export', 'io.EXISTS', 2],
    ['export part-1.zip --out part-2.zip', 'io.EXISTS', 2],
    ['export part-1.zip --out new --report absent', 'io.NOT_FOUND', 2],
    ['export part-1.zip part-1.zip --out new', 'pack.INPUT_INVALID', 2],
    ['export part-1.zip --out new --key rsa.pem --issuer i', 'trust.KEY_UNSUPPORTED', 2],
    ['export part-1.zip --out new --through 2000-01-01', 'pack.INPUT_INVALID', 2],
    [`mirror evexp_000000000001 ${REMOTE} --to new`, 'usage.INVALID', 2],
    [`mirror evexp_000000000001 ${REMOTE} --to new --token-file absent`, 'io.NOT_FOUND', 2],
    [`mirror evexp_000000000001 ${REMOTE} --to new --token-file nothing`, 'usage.INVALID', 2],
    [
      'mirror e --project prj_000000000001 --url ftp://x --to new --token-file token',
      'client.BASE_URL_INVALID',
      2,
    ],
    [`mirror not-an-id ${REMOTE} --to new --token-file token`, 'client.REQUEST_INVALID', 2],
    [`reports evexp_000000000001 ${REMOTE}`, 'usage.INVALID', 2],
    ['reports absent', 'io.NOT_FOUND', 2],
    ['reports part-1.zip', 'usage.INVALID', 2],
    ['tool-source --file absent', 'io.NOT_FOUND', 2],
    ['keys list absent', 'io.NOT_FOUND', 2],
    ['keys list nothing', 'trust.STORE_INVALID', 2],
    ['keys add rsa.pem --issuer i --trust new', 'trust.KEY_PRIVATE', 2],
    ['keys add part-1.zip --issuer i --trust new', 'trust.KEY_INVALID', 2],
    ['keys add key.pub.pem --issuer acme-ci --trust trust.json', 'trust.KEY_DUPLICATE', 2],
    ['keys generate --out key.pem', 'io.EXISTS', 2],
    ['keys generate --out - --public new.pem', 'usage.INVALID', 2],
    ['keys generate --out new.pem --public key.pub.pem', 'io.EXISTS', 2],
    ['keys generate --out new.pem --public absent/new.pub.pem', 'io.NOT_FOUND', 2],
    ['admin project create --organization org_000000000001 --name n --data absent', 'io.NOT_FOUND', 2],
    ['admin ingest bundle absent.zip --project prj_000000000001 --data empty', 'io.NOT_FOUND', 2],
    ['admin token list --organization o --data nothing', 'io.KIND', 2],
    ['serve --data nothing --port 0', 'io.KIND', 2],
  ])('%s ends with %s and %i', async (line, code, exit) => {
    const before = (await readdir(dir.root)).toSorted();
    const ended = await call(line);
    expect(codeOf(ended)).toBe(code);
    expect(ended.code).toBe(exit);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).not.toMatch(/^\s+at /m);
    expect((await readdir(dir.root)).toSorted()).toEqual(before);
    expect(await readdir(dir.path('empty'))).toEqual([]);
  });

  it('shows the stack on stderr when debugging asks for it, and the code all the same', async () => {
    const { stderr, code } = await drillproof(['verify', 'absent'], {
      cwd: dir.root,
      env: { DRILLPROOF_DEBUG: '1' },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^drillproof: io\.NOT_FOUND: .*\n[^]*\n\s+at /);
  });

  it.each([
    ['verify cut.zip --trust trust.json', 'zip.NOT_A_ZIP'],
    ['tool-source --file nothing', 'json.INVALID'],
  ])('%s reads bad evidence, which is the finding %s and exit code 1', async (line, finding) => {
    const { code, stdout } = await call(line);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILED /);
    expect(stdout).toContain(finding);
  });
});

it('an unreachable server could not be checked', async () => {
  const ended = await call(`mirror evexp_000000000001 ${REMOTE} --to new --token-file token --quiet`);
  expect(codeOf(ended)).toBe('transport.UNREACHABLE');
  expect(ended.code).toBe(3);
  expect(ended.stderr).not.toContain('dp_live');
});

const asRoot = process.getuid?.() === 0;

const mount = (folder: string, options: string): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);

if (isDeep) {
  describe('a target that cannot take the result (needs root for a mount)', () => {
    it('that is full leaves nothing half-written', async () => {
      await using place = await scratch();
      await mkdir(place.path('small'));
      mount(place.path('small'), 'size=1m');
      try {
        const roles = PACK.split(' ');
        await writeFile(dir.path('run-1/big.bin'), Buffer.alloc(3_000_000, 7));
        const pack = ['pack', 'run-1', '--run', 'run-1.json', ...roles, '--compression', 'store'];
        const packed = await callHere([...pack, '--out', place.path('small/out.zip')]);
        expect([codeOf(packed), packed.code]).toEqual(['io.DISK_FULL', 3]);
        expect((await callHere([...pack, '--out', 'big.zip'])).code).toBe(0);
        for (const out of ['folder', 'file.zip']) {
          const exported = await callHere(['export', 'big.zip', '--out', place.path(`small/${out}`)]);
          expect([codeOf(exported), exported.code]).toEqual(['io.DISK_FULL', 3]);
        }
        expect(await readdir(place.path('small'))).toEqual([]);
      } finally {
        execFileSync('umount', [place.path('small')]);
      }
    });

    it('a read-only file or folder is reported as read-only', async () => {
      await using place = await scratch();
      await mkdir(place.path('fixed'));
      mount(place.path('fixed'), 'ro');
      try {
        const lines = [
          'keys generate --out OUT',
          'export part-1.zip --out OUT',
          'export part-1.zip --out OUT.zip',
          'inspect --export-signature export --out OUT',
        ];
        for (const line of lines) {
          const ended = await call(line.replace('OUT', place.path('fixed/out')));
          expect([line, codeOf(ended), ended.code]).toEqual([line, 'io.READ_ONLY', 3]);
        }
      } finally {
        execFileSync('umount', [place.path('fixed')]);
      }
    });
  });
}

/** Root has every right, so root runs the program as nobody. */
const NOBODY = 65_534;

it('a file without the right to read is reported as unreadable', async () => {
  await using place = await scratch();
  await mkdir(place.path('locked'));
  await chmod(place.root, 0o755);
  await chmod(place.path('locked'), 0o555);
  const args = ['keys', 'generate', '--out', place.path('locked/key.pem')];
  const ended = await drillproof(args, { cwd: '/', ...(asRoot && { uid: NOBODY }) });
  expect([codeOf(ended), ended.code]).toEqual(['io.READ_ONLY', 3]);
});
