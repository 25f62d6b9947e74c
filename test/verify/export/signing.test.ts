import { expect, it } from 'vitest';
import { checkSubject } from '../../../src/verify/export/signing.ts';
import type { TrustStore } from '../../../src/trust/store.ts';
import {
  EXPORT_ID,
  flipBit,
  idOf,
  makeSigner,
  makeTrust,
  NOW,
  ORGANIZATION,
} from '../../support/evidence.ts';
import { sample, trust } from './setup.ts';

const attestation = sample.files['export-attestation.json']!;

const findSubject = (store: TrustStore | undefined, bytes = attestation, asOfMs = NOW) =>
  checkSubject(bytes, { asOfMs, ...(store && { trust: store }) });

it('an export attestation signed by a trusted key names its export and manifest', () => {
  expect(findSubject(trust)).toEqual({
    evidenceExportId: EXPORT_ID,
    organizationId: ORGANIZATION,
    manifestDigest: sample.packed.manifestDigest,
  });
});

it('an export attestation by a retired key still names its export', () => {
  expect(findSubject(makeTrust(sample.signer, { notAfterMs: NOW - 1 }))).toBeDefined();
});

it.each<readonly [string, () => TrustStore | undefined]>([
  ['without a trust store', () => undefined],
  ['by a key that is not trusted', () => makeTrust(makeSigner())],
  ['by a key that is compromised', () => makeTrust(sample.signer, { revokedAtMs: NOW })],
  ['by a key for evidence alone', () => makeTrust(sample.signer, { purposes: ['evidence'] })],
  ['by a key for another organization', () => makeTrust(sample.signer, { organizations: [idOf('org', 9)] })],
  ['by a key for one project', () => makeTrust(sample.signer, { projects: ['prj_000000000001'] })],
])('an export attestation names nothing %s', (_, storeOf) => {
  expect(findSubject(storeOf())).toBeUndefined();
});

it('an export attestation names nothing before it was issued, or with a flipped bit', () => {
  expect(findSubject(trust, attestation, NOW - 30_001)).toBeUndefined();
  for (let at = 0; at < attestation.length; at += 7)
    expect([at, findSubject(trust, flipBit(attestation, at))]).toEqual([at, undefined]);
});

it('bytes that are not an export attestation name nothing', () => {
  expect(findSubject(trust, new Uint8Array())).toBeUndefined();
  expect(findSubject(trust, sample.files['manifest.json'])).toBeUndefined();
});
