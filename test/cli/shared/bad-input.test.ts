import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  call,
  type CliResult,
  drillproof,
  expectExit,
  expectPass,
  ROLES,
  scratch,
  SIGNER,
  useEvidenceFolder,
} from '../make.ts';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { isDeep } from '../../support/deep.ts';
import { pack } from '../../support/evidence.ts';
import { writeFiles } from '../../support/folder.ts';

useEvidenceFolder(async () => {
  await mkdir('empty');
  await expectPass('verify part-1.zip --trust trust.json --format json=saved.json');
  await expectPass('verify part-1.zip --trust trust.json --format html=saved.html');
  await expectPass('policy init policy.yaml');
  await expectPass(`dsse create part-1.zip ${SIGNER} --out part.dsse.json`);
  await writeFiles('.', {
    'other/readme.txt': 'not an export',
    'build.zip': await pack([['build.json', toUtf8('{}')]]),
    'cut.zip': (await readFile('part-1.zip')).subarray(0, 1000),
    'rsa.pem': execFileSync('openssl', ['genrsa', '2048'], { stdio: ['ignore', 'pipe', 'ignore'] }),
    token: 'dp_live_but_unknown\n',
    nothing: '',
    large: Buffer.alloc(17 * 1024 * 1024, ' '),
  });
});

const ONE_LINE = /^drillproof: ([a-z-]+\.[A-Z0-9_]+): .+\n(?: {2}- .+\n)* {2}\S.+\n$/;
const codeOf = (ended: CliResult): string =>
  ONE_LINE.exec(ended.stderr)?.[1] ?? `no such line: ${ended.stderr}`;
const REMOTE = '--project prj_000000000001 --url http://127.0.0.1:9';
const PACK = `${SIGNER} ${ROLES}`;

describe('bad input', () => {
  it.each<[string, string, number?]>([
    ['verify absent', 'io.NOT_FOUND'],
    ['verify empty', 'export.NOT_AN_EXPORT'],
    ['verify other', 'export.NOT_AN_EXPORT'],
    ['verify trust.json', 'export.NOT_AN_EXPORT'],
    ['verify key.pub.pem', 'export.NOT_AN_EXPORT'],
    ['verify saved.json', 'export.NOT_AN_EXPORT'],
    ['verify part.dsse.json', 'export.NOT_AN_EXPORT'],
    ['verify export/manifest.json', 'export.NOT_AN_EXPORT'],
    ['verify export/export.json', 'export.NOT_AN_EXPORT'],
    ['verify export/export-attestation.json', 'export.NOT_AN_EXPORT'],
    ['verify policy.yaml', 'export.NOT_AN_EXPORT'],
    ['verify saved.html', 'export.NOT_AN_EXPORT'],
    ['verify build.zip', 'export.NOT_AN_EXPORT'],
    ['verify run-1.json', 'export.NOT_AN_EXPORT'],
    ['verify other/readme.txt', 'export.NOT_AN_EXPORT'],
    ['verify nothing', 'export.NOT_AN_EXPORT'],
    ['inspect saved.json', 'export.NOT_AN_EXPORT'],
    ['verify part-1.zip --trust absent.json', 'io.NOT_FOUND'],
    ['verify part-1.zip --trust other', 'io.KIND'],
    ['verify part-1.zip --trust nothing', 'trust.STORE_INVALID'],
    ['verify part-1.zip --trust key.pem', 'usage.INVALID'],
    ['verify part-1.zip --trust large', 'usage.INVALID'],
    ['verify part-1.zip --key large,issuer=acme-ci', 'usage.INVALID'],
    ['gate part-1.zip --policy large', 'usage.INVALID'],
    ['keys list large', 'usage.INVALID'],
    ['keys add large --issuer i --trust new', 'usage.INVALID'],
    [`mirror evexp_000000000001 ${REMOTE} --to new --token-file large`, 'usage.INVALID'],
    ['dsse verify large --subject part-1.zip --trust trust.json', 'json.TOO_LARGE', 1],
    ['verify part-1.zip --key key.pem,issuer=acme-ci', 'trust.KEY_PRIVATE'],
    ['verify part-1.zip --key rsa.pem,issuer=acme-ci', 'trust.KEY_PRIVATE'],
    ['verify part-1.zip --expect-export evexp_000000000001', 'usage.INVALID'],
    ['verify part-1.zip --format json=part-2.zip', 'io.EXISTS'],
    [`gate part-1.zip --vsa part-2.zip --vsa-key key.pem --verifier-id https://a.example`, 'io.EXISTS'],
    [`dsse create part-1.zip ${SIGNER} --out part-2.zip`, 'io.EXISTS'],
    ['inspect absent', 'io.NOT_FOUND'],
    ['inspect empty', 'export.NOT_AN_EXPORT'],
    ['inspect cut.zip', 'zip.NOT_A_ZIP', 1],
    ['inspect export --bundle evidence_000000000009', 'usage.INVALID'],
    ['inspect export --export-signature --out empty/x --key rsa.pem,issuer=i', 'trust.KEY_PRIVATE'],
    ['pack absent --run run-1.json --unsigned --out out.zip', 'io.NOT_FOUND'],
    ['pack run-1 --run absent.json --unsigned --out out.zip', 'io.NOT_FOUND'],
    ['pack run-1 --run nothing --unsigned --out out.zip', 'pack.INPUT_INVALID'],
    ['pack run-1 --run result-1.json --unsigned --out out.zip', 'pack.INPUT_INVALID'],
    ['pack run-1 --run run-1.json --key rsa.pem --issuer i --out out.zip', 'trust.KEY_UNSUPPORTED'],
    ['pack run-1 --run run-1.json --key key.pub.pem --issuer i --out out.zip', 'trust.KEY_PUBLIC'],
    ['pack run-1 --run run-1.json --key key.pem --issuer i --out out.zip', 'pack.INPUT_INVALID'],
    [`pack run-1 --run run-1.json ${PACK} --out part-2.zip`, 'io.EXISTS'],
    [`pack run-1 --run run-1.json ${PACK} --out absent/out.zip`, 'io.NOT_FOUND'],
    ['export absent.zip --out new', 'io.NOT_FOUND'],
    ['export cut.zip --out new', 'zip.NOT_A_ZIP', 1],
    ['export part-1.zip --out export', 'io.EXISTS'],
    ['export part-1.zip --out part-2.zip', 'io.EXISTS'],
    ['export part-1.zip --out new --report absent', 'io.NOT_FOUND'],
    ['export part-1.zip part-1.zip --out new', 'pack.INPUT_INVALID'],
    ['export part-1.zip --out new --key rsa.pem --issuer i', 'trust.KEY_UNSUPPORTED'],
    ['export part-1.zip --out new --through 2000-01-01', 'pack.INPUT_INVALID'],
    [`mirror evexp_000000000001 ${REMOTE} --to new`, 'usage.INVALID'],
    [`mirror evexp_000000000001 ${REMOTE} --to new --token-file absent`, 'io.NOT_FOUND'],
    [`mirror evexp_000000000001 ${REMOTE} --to new --token-file nothing`, 'usage.INVALID'],
    [
      'mirror e --project prj_000000000001 --url ftp://x --to new --token-file token',
      'client.BASE_URL_INVALID',
    ],
    [`mirror not-an-id ${REMOTE} --to new --token-file token`, 'client.REQUEST_INVALID'],
    [`reports evexp_000000000001 ${REMOTE}`, 'usage.INVALID'],
    ['reports evexp_000000000001', 'usage.INVALID'],
    ['tool-source --file absent', 'io.NOT_FOUND'],
    ['keys list absent', 'io.NOT_FOUND'],
    ['keys list nothing', 'trust.STORE_INVALID'],
    ['keys add rsa.pem --issuer i --trust new', 'trust.KEY_PRIVATE'],
    ['keys add part-1.zip --issuer i --trust new', 'trust.KEY_INVALID'],
    ['keys add key.pub.pem --issuer acme-ci --trust trust.json', 'trust.KEY_DUPLICATE'],
    ['keys generate --out key.pem', 'io.EXISTS'],
    ['keys generate --out - --public new.pem', 'usage.INVALID'],
    ['keys generate --out new.pem --public key.pub.pem', 'io.EXISTS'],
    ['keys generate --out new.pem --public absent/new.pub.pem', 'io.NOT_FOUND'],
    ['admin project create --organization org_000000000001 --name n --data absent', 'io.NOT_FOUND'],
    ['admin ingest bundle absent.zip --project prj_000000000001 --data empty', 'io.NOT_FOUND'],
    ['admin token list --organization o --data nothing', 'io.KIND'],
    ['serve --data nothing --port 0', 'io.KIND'],
  ])('%s ends with %s', async (line, code, exit = 2) => {
    const before = (await readdir('.')).toSorted();
    const result = await call(line);
    expect([codeOf(result), result.code, result.stdout]).toEqual([code, exit, '']);
    expect(result.stderr).not.toMatch(/^\s+at /m);
    expect((await readdir('.')).toSorted()).toEqual(before);
    expect(await readdir('empty')).toEqual([]);
  });

  it('DRILLPROOF_DEBUG=1 prints the stack on stderr after the code', async () => {
    const { stderr, code } = await drillproof('verify absent', { env: { DRILLPROOF_DEBUG: '1' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^drillproof: io\.NOT_FOUND: .*\n[^]*\n\s+at /);
  });

  it.each([
    ['verify cut.zip --trust trust.json', 'zip.NOT_A_ZIP'],
    ['tool-source --file nothing', 'json.INVALID'],
  ])('%s reports bad evidence with the finding %s and exit code 1', async (line, finding) => {
    expect(await expectExit(line, 1, finding)).toMatch(/^FAILED /);
  });
});

it('an unreachable server ends with 3', async () => {
  const result = await call(`mirror evexp_000000000001 ${REMOTE} --to new --token-file token --quiet`);
  expect([codeOf(result), result.code]).toEqual(['transport.UNREACHABLE', 3]);
  expect(result.stderr).not.toContain('dp_live');
});

const asRoot = process.getuid?.() === 0;

if (isDeep) {
  const big = `pack run-1 --run run-1.json ${PACK} --compression store --out`;
  it.each([
    ['a full', 'size=1m', 'io.DISK_FULL', `${big} OUT.zip`],
    ['a full', 'size=1m', 'io.DISK_FULL', 'export big.zip --out OUT'],
    ['a full', 'size=1m', 'io.DISK_FULL', 'export big.zip --out OUT.zip'],
    ['a read-only', 'ro', 'io.READ_ONLY', 'keys generate --out OUT'],
    ['a read-only', 'ro', 'io.READ_ONLY', 'export part-1.zip --out OUT'],
    ['a read-only', 'ro', 'io.READ_ONLY', 'export part-1.zip --out OUT.zip'],
    ['a read-only', 'ro', 'io.READ_ONLY', 'inspect --export-signature export --out OUT'],
  ])(
    '%s target (%s, needs root) is reported with %s, and stays empty: %s',
    async (_, options, code, line) => {
      await using place = await scratch();
      await writeFile('run-1/big.bin', Buffer.alloc(3_000_000, 7));
      await expectPass(`${big} big.zip --force`);
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', place.root]);
      try {
        const result = await call(line.replace('OUT', place.path('out')));
        expect([codeOf(result), result.code]).toEqual([code, 3]);
        expect(await readdir(place.root)).toEqual([]);
      } finally {
        execFileSync('umount', [place.root]);
      }
    },
  );
}

/** Root may read everything, so as root the program runs as this user. */
const NOBODY = 65_534;

it('a folder without the right to write is reported as read-only', async () => {
  await using place = await scratch();
  await mkdir(place.path('locked'));
  await chmod(place.root, 0o755);
  await chmod(place.path('locked'), 0o555);
  const line = `keys generate --out ${place.path('locked/key.pem')}`;
  const result = await drillproof(line, { cwd: '/', ...(asRoot && { uid: NOBODY }) });
  expect([codeOf(result), result.code]).toEqual(['io.READ_ONLY', 3]);
});
