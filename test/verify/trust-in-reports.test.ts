import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { memorySource } from '../../src/evidence/index.ts';
import { renderJson, renderText } from '../../src/report/index.ts';
import { trustStore } from '../../src/trust/index.ts';
import {
  verifyAttestation,
  verifyExport,
  verifyPart,
  type Report,
  type VerifyOptions,
} from '../../src/verify/index.ts';
import { makeExport, makeSigner, makeTrust, NOW } from '../support/evidence.ts';

const sample = await makeExport();

const access = memoryAccess(sample.files['parts/evidence_000000000001.zip']!);
const KINDS: readonly [string, (options: VerifyOptions) => Report | Promise<Report>][] = [
  ['an export', (options) => verifyExport(memorySource(sample.files), options)],
  ['a part', (options) => verifyPart(access, options)],
  ['a part at depth digest', (options) => verifyPart(access, { ...options, depth: 'digest' })],
  ['an attestation', (options) => verifyAttestation('{}', options)],
];

describe.each(KINDS)('the report of %s', (_, verify) => {
  it('names the whole trust store, in JSON and in text', async () => {
    const trust = makeTrust(sample.signer);
    const report = await verify({ asOfMs: NOW, trust });
    expect(report).toMatchObject({ trust: { fingerprint: trust.fingerprint, keys: trust.keys.length } });
    expect(renderJson(report)).toContain(trust.fingerprint);
    expect(renderText(report).replaceAll(/\s/g, '')).toContain(trust.fingerprint);
  });

  it('has another fingerprint after an unrelated key was added', async () => {
    const trust = makeTrust(sample.signer);
    const other = makeTrust(makeSigner()).keys.map((key) => ({ ...key, issuer: 'stranger' }));
    const wider = await verify({ asOfMs: NOW, trust: trustStore([...trust.keys, ...other]) });
    expect('trust' in wider && wider.trust?.fingerprint).not.toBe(trust.fingerprint);
  });

  it('names no trust store if none was given', async () => {
    const report = await verify({ asOfMs: NOW });
    expect(report).not.toHaveProperty('trust');
    expect(renderText(report)).toMatch(/trust store +none given/);
  });
});

it('the report of every part of an export names the trust store', async () => {
  const trust = makeTrust(sample.signer);
  const report = await verifyExport(memorySource(sample.files), { asOfMs: NOW, trust });
  expect(report.parts.map((part) => part.trust?.fingerprint)).toEqual([trust.fingerprint, trust.fingerprint]);
});
