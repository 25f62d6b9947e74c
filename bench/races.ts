/** The table of races about evidence on disk: our work, and what a user would run instead. */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, sign } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openZip } from '../src/zip/read/open.ts';
import { memoryAccess } from '../src/bytes/random-access.ts';
import { encodeDsse, signDsse } from '../src/trust/dsse.ts';
import { publicKeyPem } from '../src/trust/key/key.ts';
import { trustStoreJwks } from '../src/trust/store.ts';
import {
  decodeSignatureBytes,
  encodeStatement,
  parseAttestation,
} from '../src/evidence/bundle/attestation.ts';
import { collect, makeTrust } from '../test/support/evidence.ts';
import { cli, program, shell, type Race, type Setting } from './race.ts';
import { REMOTE_RACES } from './remote.ts';
import { cached, exportOf, privateJwk, signer, small, type Shape } from './inputs.ts';
import type { Contender } from './measure.ts';
import { python } from './peers.ts';
import type { Statements } from './programs/attestation.ts';

const cores = availableParallelism();
const MIB = 2 ** 20;

const PYTHON = 'Python script';
const LIMIT = 'bare checks, all cores';
const OPENSSL = 'openssl dgst, all cores';
const UNZIP = 'unzip -t and openssl dgst, all cores';

const verify = (root: string, ...more: string[]): [string, ...string[]] =>
  cli('verify', `${root}/export`, '--trust', `${root}/trust.json`, '--quiet', ...more);
const pythonScript = (root: string): Contender => ({
  name: PYTHON,
  command: [python, join(import.meta.dirname, 'verify.py'), `${root}/export`, `${root}/trust.json`],
  needs: ['python3'],
});
const bare = (depth: string, root: string): Contender => ({
  name: LIMIT,
  command: program('bare.ts', depth, `${root}/export`, `${root}/trust.json`),
});
const yauzl = (root: string): Contender => ({
  name: 'yauzl and SHA-256',
  command: program('yauzl.ts', `${root}/export`),
  needs: ['yauzl'],
});

async function prepareSmall({ short }: Setting): Promise<Contender[]> {
  const root = await exportOf(small(short ? 5000 : 10_000));
  return [
    { name: 'drillproof verify', command: verify(root) },
    pythonScript(root),
    yauzl(root),
    bare('full', root),
  ];
}

async function prepareDigest(): Promise<Contender[]> {
  const root = await exportOf({ parts: 64, logBytes: 16 * MIB, compression: 'store' });
  const cwd = `${root}/export`;
  return [
    {
      name: 'drillproof verify --depth digest',
      command: verify(root, '--depth', 'digest', '--accept', 'intact'),
    },
    {
      name: OPENSSL,
      command: shell(`ls parts/*.zip | xargs -P${cores} -n4 openssl dgst -sha256`),
      cwd,
      needs: ['openssl', 'xargs'],
    },
    {
      name: 'sha256sum -c',
      command: ['sha256sum', '--quiet', '-c', '../SHA256SUMS'],
      cwd,
      needs: ['sha256sum'],
    },
    {
      name: 'hashdeep',
      command: ['hashdeep', '-c', 'sha256', `-j${cores}`, '-r', 'parts'],
      cwd,
      needs: ['hashdeep'],
    },
    { name: 'rclone hashsum', command: ['rclone', 'hashsum', 'sha256', 'parts'], cwd, needs: ['rclone'] },
    bare('digest', root),
  ];
}

const prepareFull =
  (compression: Shape['compression']): Race['prepare'] =>
  async () => {
    const root = await exportOf({ parts: 32, logBytes: 16 * MIB, compression });
    const cwd = `${root}/export`;
    const both = 'unzip -tqq "$0"; openssl dgst -sha256 "$0"';
    return [
      { name: 'drillproof verify', command: verify(root) },
      {
        name: UNZIP,
        command: shell(`ls parts/*.zip | xargs -P${cores} -n1 sh -ec '${both}'`),
        cwd,
        needs: ['unzip', 'openssl', 'xargs'],
      },
      { name: '7zz t, CRC-32 only', command: ['7zz', 't', '-bso0', 'parts/*.zip'], cwd, needs: ['7zz'] },
      yauzl(root),
      pythonScript(root),
      bare('full', root),
    ];
  };

/** The statements of some parts in the form of each library, signed with the same key. */
async function writeStatements(folder: string, parts: string): Promise<void> {
  const key = createPrivateKey({ key: privateJwk, format: 'jwk' });
  const rows = [];
  for (const name of readdirSync(parts)) {
    const archive = await openZip(memoryAccess(readFileSync(join(parts, name))));
    const entry = archive.entries.find((candidate) => candidate.name === 'attestation.json')!;
    const bytes = await collect(archive.read(entry));
    const attestation = parseAttestation(bytes);
    const message = encodeStatement(attestation.statement);
    const payloadType = 'application/vnd.drillproof.bench';
    const jws = ['{"alg":"ES256"}', message].map((part) => Buffer.from(part).toString('base64url')).join('.');
    const jwsSignature = sign('sha256', Buffer.from(jws), { key, dsaEncoding: 'ieee-p1363' });
    rows.push({
      attestation: Buffer.from(bytes).toString(),
      message: Buffer.from(message).toString(),
      signature: Buffer.from(decodeSignatureBytes(attestation)).toString('base64url'),
      envelope: JSON.parse(
        Buffer.from(encodeDsse(await signDsse({ payloadType, payload: message }, [signer]))).toString(),
      ),
      jws: `${jws}.${jwsSignature.toString('base64url')}`,
    });
  }
  const trust = trustStoreJwks(makeTrust(signer));
  const statements: Statements = { trust, pem: publicKeyPem(signer.point), rows };
  writeFileSync(join(folder, 'statements.json'), JSON.stringify(statements));
}

async function prepareAttestation(): Promise<Contender[]> {
  const root = await exportOf(small(1000));
  const folder = await cached('statements', (target) => writeStatements(target, `${root}/export/parts`));
  const using = (library: string) => program('attestation.ts', library, join(folder, 'statements.json'));
  return [
    { name: 'verifyAttestation', command: using('drillproof') },
    { name: 'crypto.verify', command: using('crypto') },
    { name: '@sigstore/verify', command: using('sigstore'), needs: ['@sigstore/verify'] },
    { name: 'jose', command: using('jose'), needs: ['jose'] },
  ];
}

const EMPTY = 'node -e 0';
const READY = 'node with the modules that verification needs';
const MODULES = "for (const name of ['crypto', 'zlib', 'fs', 'worker_threads']) require(`node:${name}`)";

/** The command as one file. */
function buildSingle(): [string, ...string[]] {
  const cwd = join(import.meta.dirname, '..');
  execFileSync('npm', ['run', '--silent', 'single'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  return [process.execPath, join(cwd, 'single/drillproof.mjs')];
}

const prepareStart =
  (programOf: () => [string, ...string[]]): Race['prepare'] =>
  async () => {
    const root = await exportOf(small(100));
    const [part = ''] = readdirSync(`${root}/export/parts`);
    const args = ['verify', `${root}/export/parts/${part}`, '--trust', `${root}/trust.json`, '--quiet'];
    return [
      { name: 'drillproof verify', command: [...programOf(), ...args], rounds: 25 },
      { name: EMPTY, command: [process.execPath, '-e', '0'], rounds: 25 },
      { name: READY, command: [process.execPath, '-e', MODULES], rounds: 25 },
    ];
  };

/**
 * The time of a part must not depend on how many there are. The largest is first: its memory counts. An export has at
 * most 10,000 parts, so 100,000 are ten exports in one call.
 */
async function prepareGrowth(): Promise<Contender[]> {
  const contenders: Contender[] = [];
  for (const parts of [10_000, 1000, 100]) {
    const root = await exportOf(small(parts));
    contenders.push({ name: `${parts.toLocaleString('en')} parts`, command: verify(root), parts });
  }
  const root = await exportOf(small(10_000));
  const ten = await cached('ten-exports', (folder) => {
    for (let n = 0; n < 10; n++) execFileSync('cp', ['-al', `${root}/export`, `${folder}/${n}`]);
  });
  const copies = readdirSync(ten).map((name) => join(ten, name));
  const command = cli('verify', ...copies, '--trust', `${root}/trust.json`, '--quiet');
  return [{ name: '100,000 parts, ten exports', command, parts: 100_000 }, ...contenders];
}

/** The races, in the order of the page. */
export const RACES: readonly Race[] = [
  {
    name: 'verify-small',
    title: '`verify` of 10,000 parts of 3.7 kB, full depth',
    target: 1.3,
    yardstick: PYTHON,
    limit: LIMIT,
    maxRssMiB: 150,
    prepare: prepareSmall,
  },
  {
    name: 'attestation',
    title: 'One attestation, bytes to verdict, in the library on one core',
    target: 0.75,
    yardstick: 'crypto.verify',
    limit: 'crypto.verify',
    prepare: prepareAttestation,
  },
  {
    name: 'digest-large',
    title: '`verify --depth digest` of 64 parts of 16 MiB',
    target: 0.93,
    yardstick: OPENSSL,
    limit: LIMIT,
    prepare: prepareDigest,
  },
  {
    name: 'full-large-stored',
    title: '`verify` of 32 stored parts of 16 MiB, full depth',
    target: 1,
    yardstick: UNZIP,
    limit: LIMIT,
    prepare: prepareFull('store'),
  },
  {
    name: 'full-large-deflated',
    title: '`verify` of 32 deflated parts of 16 MiB, full depth',
    target: 1,
    yardstick: UNZIP,
    limit: LIMIT,
    prepare: prepareFull('deflate'),
  },
  ...REMOTE_RACES,
  {
    name: 'start',
    title: 'Start: `verify` of one part',
    target: 1 / 5,
    yardstick: EMPTY,
    limit: READY,
    prepare: prepareStart(() => cli()),
  },
  {
    name: 'start-single',
    title: 'Start: `verify` of one part by the single file',
    target: 1 / 5,
    yardstick: EMPTY,
    limit: READY,
    prepare: prepareStart(buildSingle),
  },
  {
    name: 'growth',
    title: '`verify` of 100 to 100,000 parts of 3.7 kB, time of each part',
    target: 1 / 1.05,
    yardstick: '10,000 parts',
    maxRssMiB: 200,
    prepare: prepareGrowth,
  },
];
