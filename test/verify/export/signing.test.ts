import { expect, it } from 'vitest';
import { checkSubject } from '../../../src/verify/export/signing.ts';
import type { TrustStore } from '../../../src/trust/index.ts';
import {
  EXPORT_ID,
  flipped,
  makeExport,
  makeSigner,
  makeTrust,
  NOW,
  ORGANIZATION,
} from '../../support/evidence.ts';

const made = await makeExport();
const attestation = made.files['export-attestation.json']!;

const subject = (trust: TrustStore | undefined, bytes = attestation, asOfMs = NOW) =>
  checkSubject(bytes, { asOfMs, ...(trust && { trust }) });

it('an export attestation signed by a trusted key names its export and manifest', () => {
  expect(subject(makeTrust(made.signer))).toEqual({
    evidenceExportId: EXPORT_ID,
    organizationId: ORGANIZATION,
    manifestDigest: made.packed.manifestDigest,
  });
});

it('it still does when its key is retired, which makes its time a claim and no more', () => {
  expect(subject(makeTrust(made.signer, { notAfterMs: NOW - 1 }))).toBeDefined();
});

it.each<readonly [string, () => TrustStore | undefined]>([
  ['without a trust store', () => undefined],
  ['by a key that nobody trusts', () => makeTrust(makeSigner())],
  ['by a key that is compromised', () => makeTrust(made.signer, { revokedAtMs: NOW })],
  ['by a key for evidence alone', () => makeTrust(made.signer, { purposes: ['evidence'] })],
  [
    'by a key for another organization',
    () => makeTrust(made.signer, { organizations: ['org_000000000009'] }),
  ],
  ['by a key for one project', () => makeTrust(made.signer, { projects: ['prj_000000000001'] })],
])('it names nothing %s', (_, trust) => {
  expect(subject(trust())).toBeUndefined();
});

it('it names nothing before it was issued, nor with a flipped bit', () => {
  const trust = makeTrust(made.signer);
  expect(subject(trust, attestation, NOW - 30_001)).toBeUndefined();
  for (let at = 0; at < attestation.length; at += 7)
    expect([at, subject(trust, flipped(attestation, at))]).toEqual([at, undefined]);
});

it('it names nothing if it is not an export attestation, or is one about a bundle', () => {
  expect(subject(makeTrust(made.signer), new Uint8Array())).toBeUndefined();
  expect(subject(makeTrust(made.signer), made.files['manifest.json'])).toBeUndefined();
});
