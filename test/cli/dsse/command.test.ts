import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { parseDsse } from '../../../src/trust/dsse.ts';
import { callJson, expectExit, expectPass, ROLES, SIGNER, useEvidenceFolder } from '../make.ts';

const TRUST = '--trust trust.json';
const COMMAND = ['--signer', 'openssl dgst -sha256 -sign key.pem', '--public-key', 'key.pub.pem'];
const create = `dsse create part-1.zip ${SIGNER} --out`;
const verifyPart = `dsse verify part.json --subject part-1.zip`;

useEvidenceFolder(async () => {
  await expectPass(`pack run-1 --run run-1.json ${ROLES} --unsigned --out unsigned.zip`);
  await expectPass(`${create} part.json`);
  await expectPass(`dsse create export ${SIGNER} --out export.json`);
});

const ATTESTED = { verdict: 'verified', completeness: 'attested' };

describe('drillproof dsse', () => {
  it('dsse create signs a part, and dsse verify reports the issuer for that part', async () => {
    const report = { kind: 'attestation', verdict: 'valid', signer: { issuer: 'acme-ci' } };
    expect(await callJson(`${verifyPart} ${TRUST}`)).toMatchObject(report);
  });

  it.each([
    ['part.json', 'part-1.zip', 0],
    ['part.json', 'part-2.zip', 1],
    ['part.json', 'export', 1],
    ['part.json', 'export/manifest.json', 1],
    ['export.json', 'part-1.zip', 1],
    ['export.json', 'export', 0],
    ['export.json', 'export/manifest.json', 0],
    ['trust.json', 'part-1.zip', 1],
  ])('dsse verify %s --subject %s ends with %i', async (envelope, subject, code) => {
    await expectExit(`dsse verify ${envelope} --subject ${subject} ${TRUST}`, code);
  });

  it('dsse verify --threshold counts each key once', async () => {
    const printed = await expectExit(`${verifyPart} ${TRUST} --threshold 2`, 1, 'dsse.THRESHOLD_MISSED');
    expect(printed).toContain('too few trusted keys: 1 of at least 2');
    expect(printed).not.toContain('no trusted key');
  });

  it('dsse writes an envelope to standard output, and reads one from standard input', async () => {
    const input = await expectPass(`${create} -`);
    expect(parseDsse(toUtf8(input)).payloadType).toBe('application/vnd.in-toto+json');
    await expectPass(`dsse verify - --subject part-1.zip ${TRUST}`, { input });
  });

  it('dsse create signs nothing that does not verify', async () => {
    const bytes = await readFile('unsigned.zip');
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile('damaged.zip', bytes);
    await expectExit(`dsse create damaged.zip ${SIGNER} --out no.json`, 1);
    await expect(readFile('no.json')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  const CREATE = ['dsse', 'create', 'part-1.zip', '--out', 'x.json'];
  it.each([
    ['no signer', CREATE],
    ['no trusted key', verifyPart],
    ['a subject that is not evidence', `dsse verify part.json --subject trust.json ${TRUST}`],
    ['two signers', [...CREATE, ...SIGNER.split(' '), ...COMMAND]],
    ['a public key without a program', `${create} x.json --public-key key.pub.pem`],
    ['a program without an issuer', [...CREATE, ...COMMAND]],
    ['a pipe as a program', [...CREATE, '--signer', 'a | b', '--issuer', 'i']],
    ['two paths for several envelopes', 'verify part-1.zip part-2.zip --dsse part.json --dsse export.json'],
    ['two paths for one envelope', `verify part-1.zip part-2.zip --dsse part.json ${TRUST}`],
  ])('dsse rejects a call with %s', async (_, words) => {
    await expectExit(words, 2);
  });
});

describe('drillproof verify --dsse', () => {
  it.each([
    ['a part without an attestation and without an envelope', 'unsigned.zip', '', 1],
    ['a part without an attestation', 'unsigned.zip', '--dsse part.json', 0],
    ['another part', 'part-2.zip', '--dsse part.json', 1],
  ])('verify --dsse of %s: %s %s ends with %i', async (_, path, options, code) => {
    await expectExit(`verify ${path} ${TRUST} ${options}`, code);
  });

  it('an envelope attests the list of an export, with any number of threads', async () => {
    await expectPass('export part-1.zip part-2.zip --out claimed');
    await expectPass(`dsse create claimed ${SIGNER} --out claimed.json`);
    const line = `verify claimed ${TRUST} --dsse`;
    for (const jobs of [1, 2])
      expect(await callJson(`${line} claimed.json --jobs ${jobs}`)).toMatchObject(ATTESTED);
    await expectExit(`${line} export.json`, 1);
  });

  it('verify --dsse assigns several envelopes by subject, and fails if a subject is not in the evidence', async () => {
    await expectPass('export unsigned.zip --out bare');
    await expectPass(`dsse create bare ${SIGNER} --out bare.json`);
    await expectPass(`dsse create part-2.zip ${SIGNER} --out part-2.json`);
    const line = `verify bare ${TRUST} --dsse bare.json`;
    expect(await callJson(`${line} --dsse part.json`)).toMatchObject(ATTESTED);
    await expectExit(line, 1);
    await expectExit(`${line} --dsse part.json --dsse part-2.json`, 1, 'dsse.SUBJECT_UNKNOWN');
    await expectExit(`${line} --dsse absent.json`, 2);
  });

  it('verify --dsse reads standard input once', async () => {
    const input = await readFile('part.json', 'utf8');
    const line = `verify unsigned.zip ${TRUST} --dsse -`;
    await expectPass(line, { input });
    await expectExit(`${line} --dsse -`, 2, '', { input });
  });

  it('verify rejects more than 10,000 envelopes', async () => {
    await expectExit(`verify unsigned.zip ${TRUST}${' --dsse absent.json'.repeat(10_001)}`, 2, '10001');
  });
});

it('a signing command signs parts, exports and envelopes, which verify accepts', async () => {
  const signer = [...COMMAND, '--issuer', 'acme-ci', '--out'];
  const pack = `pack run-1 --run run-1.json ${ROLES}`.split(' ');
  await expectPass([...pack, ...signer, 'by-command.zip']);
  await expectPass(['export', 'by-command.zip', ...signer, 'by-command']);
  await expectPass(['dsse', 'create', 'unsigned.zip', ...signer, 'by-command.json']);
  await expectPass(`verify by-command.zip ${TRUST}`);
  await expectPass(`verify unsigned.zip ${TRUST} --dsse by-command.json`);
  expect(await callJson(`verify by-command ${TRUST}`)).toMatchObject(ATTESTED);
});

it('pack writes nothing and ends with 3 when the signing command takes too long', async () => {
  const pack = `pack run-1 --run run-1.json ${ROLES} --issuer i --out nothing.zip --json`;
  const signer = ['--signer', 'sleep 30', '--public-key', 'key.pub.pem', '--signer-timeout', '1'];
  await expectExit([...pack.split(' '), ...signer], 3, 'trust.SIGNER_TIMEOUT', { env: process.env });
  await expect(readFile('nothing.zip')).rejects.toMatchObject({ code: 'ENOENT' });
});
