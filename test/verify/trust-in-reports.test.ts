import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../src/bytes/random-access.ts';
import { renderJson } from '../../src/report/json.ts';
import { renderText } from '../../src/report/text/text.ts';
import { trustStore } from '../../src/trust/store.ts';
import { verifyAttestation } from '../../src/verify/verify-attestation.ts';
import { verifyExport } from '../../src/verify/export/export.ts';
import { verifyPart } from '../../src/verify/part/part.ts';
import type { Report } from '../../src/verify/report.ts';
import type { VerifyOptions } from '../../src/verify/options.ts';
import { makeSigner, makeTrust, NOW } from '../support/evidence.ts';
import { PART, sample, source, trust } from './export/setup.ts';

const access = memoryAccess(sample.files[PART]!);
const KINDS: readonly [string, (options: VerifyOptions) => Report | Promise<Report>][] = [
  ['an export', (options) => verifyExport(source, options)],
  ['a part', (options) => verifyPart(access, options)],
  ['a part at depth digest', (options) => verifyPart(access, { ...options, depth: 'digest' })],
  ['an attestation', (options) => verifyAttestation('{}', options)],
];

describe.each(KINDS)('the report of %s', (_, verify) => {
  it('names the whole trust store, in JSON and in text', async () => {
    const report = await verify({ asOfMs: NOW, trust });
    expect(report).toMatchObject({ trust: { fingerprint: trust.fingerprint, keys: trust.keys.length } });
    expect(renderJson(report)).toContain(trust.fingerprint);
    expect(renderText(report).replaceAll(/\s/g, '')).toContain(trust.fingerprint);
  });

  it('has another fingerprint after an unrelated key was added', async () => {
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
  const report = await verifyExport(source, { asOfMs: NOW, trust });
  expect(report.parts.map((part) => part.trust?.fingerprint)).toEqual([trust.fingerprint, trust.fingerprint]);
});
