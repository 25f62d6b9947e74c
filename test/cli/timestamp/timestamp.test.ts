import { createServer } from 'node:http';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../support/folder.ts';
import { CA, type Issued, openTsa, TSA } from '../../node/time/tsa.ts';
import { call, callJson, expectExit, expectPass, readFailure, ROLES, SIGNER, writeRun } from '../make.ts';

const folder = await makeFolder();
const at = (name: string): string => join(folder, name);
const tsa = openTsa(at('tsa'));
const now = Date.now;
const TRUST = `--trust ${at('trust.json')}`;
let authority: Issued;
let signer: Issued;

beforeAll(async () => {
  authority = tsa.issue('authority', { extensions: CA });
  signer = tsa.issue('signer', { by: authority, extensions: TSA });
  await writeRun(folder);
  const key = SIGNER.replace('key.pem', at('key.pem'));
  await expectPass(`keys generate --out ${at('key.pem')}`);
  const purposes = ['evidence', 'export', 'report'].map((name) => `--purpose ${name}`).join(' ');
  await expectPass(`keys add ${at('key.pub.pem')} --issuer acme-ci ${purposes} ${TRUST}`);
  copyFileSync(at('trust.json'), at('plain.json'));
  await expectPass(`keys add ${authority.pem} --issuer tsa.example --purpose timestamp ${TRUST}`);
  await expectPass(`pack ${at('run-1')} --run ${at('run-1.json')} ${key} ${ROLES} --out ${at('part.zip')}`, {
    now,
  });
  await expectPass(`export ${at('part.zip')} ${key} --out ${at('export')}`, { now });
  await expectPass(`dsse create ${at('part.zip')} ${key} --out ${at('part.dsse.json')}`, { now });
});

/** A time authority on this machine. */
async function serveTsa(by = signer): Promise<string> {
  const server = createServer((request, answer) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer.end(tsa.reply(Buffer.concat(chunks), { signer: by })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/tsa`;
}
const verify = (path: string, more = TRUST) =>
  callJson(`verify ${path} ${more}`, { now: () => now() + 5000 });
const copy = (name: string, to: string): string => {
  copyFileSync(at(name), at(to));
  return at(to);
};

test('timestamp gets a token of an authority, and verify uses it offline for the signature of a part', async () => {
  const part = copy('part.zip', 'one.zip');
  await expectPass(`timestamp ${part} --tsa ${await serveTsa()} ${TRUST}`, { now });
  const report = await verify(part);
  expect(report).toMatchObject({
    verdict: 'verified',
    timestamps: [{ name: `${part}.tst`, authority: 'tsa.example' }],
    signers: [{ stamp: { authority: 'tsa.example' } }],
    findings: [],
  });
  expect(report.checks).toContainEqual({ id: 'timestamp.token', state: 'passed' });
  const text = await expectPass(`verify ${part} ${TRUST}`, { now: () => now() + 5000 });
  expect(text).toContain('by timestamps of tsa.example');
  await expectExit(`timestamp ${part} --check ${TRUST}`, 0, 'by tsa.example', { now: () => now() + 5000 });
  await expectExit(`timestamp ${part} --check --trust ${at('plain.json')}`, 3, 'timestamp.NOT_CHECKED', {
    now,
  });
  expect(await readFailure(call(`timestamp ${part} --tsa ${await serveTsa()}`, { now }))).toEqual([
    2,
    'io.EXISTS',
  ]);
});

test('timestamp of an export covers the list and every part, in threads too', async () => {
  await expectPass(`timestamp ${at('export')} --tsa ${await serveTsa()}`, { now });
  for (const more of ['', ' --second-opinion', ' --jobs 1']) {
    const report = await verify(at('export'), TRUST + more);
    expect(report).toMatchObject({
      verdict: 'verified',
      signers: [{ stamp: { authority: 'tsa.example' } }],
      parts: [{ signers: [{ stamp: { authority: 'tsa.example' } }] }],
    });
    expect(report.findings).toEqual([]);
  }
});

test('timestamp takes the response that openssl made for an envelope, and refuses that of another file', async () => {
  const envelope = at('part.dsse.json');
  tsa.openssl('ts', '-query', '-data', envelope, '-sha256', '-cert', '-out', at('request.tsq'));
  writeFileSync(at('reply.tsr'), tsa.reply(readFileSync(at('request.tsq')), { signer }));
  const other = copy('part.zip', 'other.zip');
  const refused = call(`timestamp ${other} --response ${at('reply.tsr')}`, { now });
  expect(await readFailure(refused)).toEqual([1, 'timestamp.IMPRINT_MISMATCH']);
  await expectPass(`timestamp ${envelope} --response ${at('reply.tsr')}`, { now });
  const report = await verify(at('part.zip'), `--dsse ${envelope} ${TRUST}`);
  expect(report.signers.map((row: any) => [row.in, row.stamp?.authority])).toEqual([
    ['attestation', undefined],
    ['dsse', 'tsa.example'],
  ]);
  const alone = await callJson(`dsse verify ${envelope} --subject ${at('part.zip')} ${TRUST}`, {
    now: () => now() + 5000,
  });
  expect(alone).toMatchObject({ verdict: 'valid', signers: [{ stamp: { authority: 'tsa.example' } }] });
  // The token of the envelope next to the part is about other bytes.
  copyFileSync(`${envelope}.tst`, at('other.zip.tst'));
  const stray = await verify(other);
  expect(stray).toMatchObject({ verdict: 'verified', findings: [{ code: 'timestamp.SUBJECT_UNKNOWN' }] });
  expect(stray.signers[0].stamp).toBeUndefined();
});

test('a reply that is not a response, a refusal, an old reply and a silent authority are errors', async () => {
  const part = copy('part.zip', 'errors.zip');
  const respond = async (body: Uint8Array) => {
    const server = createServer((request, answer) => void request.resume().on('end', () => answer.end(body)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    return readFailure(call(`timestamp ${part} --tsa ${url}`, { now }));
  };
  expect(await respond(Buffer.from('no'))).toEqual([3, 'timestamp.UNREACHABLE']);
  expect(await respond(Buffer.from('300d300b0201023006 0c04 6e6f 7065'.replaceAll(' ', ''), 'hex'))).toEqual([
    3,
    'timestamp.REFUSED',
  ]);
  tsa.openssl('ts', '-query', '-data', part, '-sha256', '-cert', '-out', at('old.tsq'));
  expect(await respond(tsa.reply(readFileSync(at('old.tsq')), { signer }))).toEqual([
    1,
    'timestamp.NONCE_MISMATCH',
  ]);
  expect(await readFailure(call(`timestamp ${part} --tsa http://127.0.0.1:9`, { now }))).toEqual([
    3,
    'timestamp.UNREACHABLE',
  ]);
  expect(await readFailure(call(`timestamp ${part}`, { now }))).toEqual([2, 'usage.INVALID']);
});

test('a signed report with a timestamp stays valid after its key is revoked as compromised', async () => {
  const report = at('report.dsse.json');
  await call(
    `verify ${at('export')} ${TRUST} --sign ${at('key.pem')} --issuer acme-ci --format json=${report}`,
    { now: () => now() + 5000 },
  );
  await expectPass(`timestamp ${report} --tsa ${await serveTsa()}`, { now });
  copyFileSync(at('trust.json'), at('revoked.json'));
  const key = (await callJson(`keys list ${at('trust.json')}`)).keys[0].kid;
  await expectPass(`keys revoke ${key} --at ${now() + 60_000} --trust ${at('revoked.json')}`);
  const later = { now: () => now() + 120_000 };
  await expectExit(`report verify ${report} --trust ${at('revoked.json')}`, 0, 'VALID', later);
  await expectExit(
    `report verify ${copy('report.dsse.json', 'unstamped.json')} --trust ${at('revoked.json')}`,
    1,
    'KEY_REVOKED',
    later,
  );
});

// Who holds the key of the signer cannot date anything back.
test('attack with the stolen key of a signer: only what was stamped before the theft stays verified', async () => {
  const before = copy('part.zip', 'before.zip');
  await expectPass(`timestamp ${before} --tsa ${await serveTsa()}`, { now });
  copyFileSync(at('trust.json'), at('stolen.json'));
  const key = (await callJson(`keys list ${at('trust.json')}`)).keys[0].kid;
  const theft = now() + 60_000;
  await expectPass(`keys revoke ${key} --at ${theft} --trust ${at('stolen.json')}`);
  const options = { now: () => theft + 60_000 };
  const judge = (path: string) => callJson(`verify ${path} --trust ${at('stolen.json')}`, options);
  expect(await judge(before)).toMatchObject({ verdict: 'verified', findings: [] });
  const forged = copy('part.zip', 'forged.zip');
  expect(await judge(forged)).toMatchObject({ verdict: 'failed', findings: [{ code: 'trust.KEY_REVOKED' }] });
  const time = new Date(theft).toISOString().replace(/[-:T]/g, '').replace(/\.\d+/, '');
  writeFileSync(`${forged}.tst`, tsa.stamp(readFileSync(forged), { signer, at: time }));
  expect(await judge(forged)).toMatchObject({ verdict: 'failed', findings: [{ code: 'trust.KEY_REVOKED' }] });
});

// Who holds the mirror can remove or exchange tokens, and gains no proof by it.
test('attack by a mirror: a removed, foreign or forged token never proves a time', async () => {
  const part = copy('part.zip', 'mirror.zip');
  writeFileSync(
    at('policy.yaml'),
    'schemaVersion: 1\nkind: policy\nsigners: { timestamp: required }\ncompleteness: { coverage: full }\n',
  );
  const gate = () =>
    callJson(`gate ${part} --policy ${at('policy.yaml')} ${TRUST}`, { now: () => now() + 5000 });
  const codes = async () =>
    (await gate()).rules.flatMap((row: any) => row.violations.map((violation: any) => violation.code));
  expect(await codes()).toContain('policy.TIMESTAMP_MISSING');
  const rogue = tsa.issue('signer', { by: tsa.issue('authority', { extensions: CA }), extensions: TSA });
  writeFileSync(`${part}.tst`, tsa.stamp(readFileSync(part), { signer: rogue, others: [signer, authority] }));
  expect(await codes()).toContain('policy.TIMESTAMP_MISSING');
  writeFileSync(`${part}.tst`, tsa.stamp(Buffer.from('other'), { signer }));
  expect(await codes()).toContain('policy.TIMESTAMP_MISSING');
  writeFileSync(`${part}.tst`, 'no token');
  expect((await verify(part)).findings.map((row: any) => row.code)).toEqual(['timestamp.INVALID']);
  writeFileSync(`${part}.tst`, tsa.stamp(readFileSync(part), { signer }));
  expect(await codes()).not.toContain('policy.TIMESTAMP_MISSING');
});

// Who holds the key of the authority can date back, until the trust store says so.
test('attack by the time authority: after its compromise, only a renewal by another one keeps its tokens', async () => {
  const part = copy('part.zip', 'authority.zip');
  const second = tsa.issue('second', { extensions: TSA });
  writeFileSync(`${part}.tst`, tsa.stamp(readFileSync(part), { signer, at: '20270601000000Z' }));
  copyFileSync(at('trust.json'), at('two.json'));
  const two = `--trust ${at('two.json')}`;
  await expectPass(`keys add ${second.pem} --issuer second.example --purpose timestamp ${two}`);
  const id = (
    await callJson(`keys add ${second.pem} --issuer second.example --purpose timestamp ${two} --new-only`)
  ).fingerprint;
  expect(id).toMatch(/^sha256:/);
  const list = await expectPass(`keys list ${at('two.json')}`);
  const certificate = /tsa\.example\ncertificate\s+(sha256:\S+)/.exec(list)?.[1] ?? '';
  await expectPass(`keys revoke ${certificate} --at 2030-01-01 ${two}`);
  const later = { now: () => Date.UTC(2035, 0, 1) };
  const judge = () => callJson(`verify ${part} ${two}`, later);
  expect(await judge()).toMatchObject({ findings: [{ code: 'timestamp.AUTHORITY_REVOKED' }] });
  writeFileSync(
    `${part}.tst.tst`,
    tsa.stamp(readFileSync(`${part}.tst`), { signer: second, at: '20290601000000Z' }),
  );
  const report = await judge();
  expect(report.findings).toEqual([]);
  expect(report.signers[0].stamp).toEqual({ atMs: Date.UTC(2027, 5, 1) + 1000, authority: 'tsa.example' });
});

test('keys add keeps certificates, and refuses what is not one', async () => {
  const store = at('kept.json');
  copyFileSync(at('trust.json'), store);
  await expectPass(`keys generate --out ${at('more.pem')}`);
  await expectPass(`keys add ${at('more.pub.pem')} --issuer more --trust ${store}`);
  expect(JSON.parse(readFileSync(store, 'utf8')).certificates).toHaveLength(1);
  const add = (words: string) =>
    readFailure(call(`keys add ${words} --issuer x --purpose timestamp --trust ${store}`));
  expect(await add(at('more.pub.pem'))).toEqual([2, 'trust.KEY_UNSUPPORTED']);
  expect(await add(authority.pem)).toEqual([2, 'trust.KEY_DUPLICATE']);
  expect(await add(`${authority.pem} --purpose evidence`)).toEqual([2, 'usage.INVALID']);
});
