import { join } from 'node:path';
import { dsse as sigstoreDsse } from '@sigstore/core';
import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/bytes/json/canonical.ts';
import { attestDsse, IN_TOTO_PAYLOAD_TYPE, buildInTotoStatement } from '../../src/evidence/in-toto.ts';
import { parseAttestation } from '../../src/evidence/bundle/attestation.ts';
import { commandSigner } from '../../src/node/keys/command-signer.ts';
import { signSummary } from '../../src/policy/vsa/vsa.ts';
import { verifySummary } from '../../src/policy/vsa/verify.ts';
import { encodeDsse, encodePreAuth } from '../../src/trust/dsse.ts';
import type { Signer } from '../../src/trust/key/signer.ts';
import { verifyDsse } from '../../src/verify/verify-dsse.ts';
import { AS_OF_MS, IN_TOTO, summaryOf, trusting } from '../policy/vsa-makers.ts';
import { errorsOf, makePart, makeTrust, NOW, unpack } from '../support/evidence.ts';
import {
  makeOpensslKey,
  verifyWithOpenssl,
  parseEnvelope,
  signWithOpenssl,
  verifyWithSigstore,
  type Envelope,
} from '../support/sigstore.ts';
import { makeFolder } from '../support/folder.ts';

const folder = await makeFolder();
const signer = makeOpensslKey(folder);
const entries = await unpack((await makePart(1, signer)).bytes);
const statement = parseAttestation(entries.get('attestation.json')!).statement;
const manifest = entries.get('manifest.json')!;

const verifyEnvelope = (envelope: Envelope) =>
  verifyDsse(canonicalBytes(envelope), { asOfMs: NOW, trust: makeTrust(signer), manifest });
const acceptsSummary = (envelope: Envelope): boolean =>
  verifySummary(Buffer.from(JSON.stringify(envelope)), { asOfMs: AS_OF_MS, trust: trusting(signer) })
    .verdict === 'valid';

/** Checks an envelope with @sigstore/verify, openssl and this program. */
const checkEnvelope = async (envelope: Envelope, accept: (envelope: Envelope) => boolean) => [
  verifyWithSigstore(envelope, signer),
  await verifyWithOpenssl(envelope, signer, folder),
  accept(envelope),
];

const change = (base64: string, from: string, to: string): string => {
  const text = Buffer.from(base64, 'base64').toString();
  expect(text).toContain(from);
  return Buffer.from(text.replace(from, to)).toString('base64');
};
const flipLastByte = (base64: string): string => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[bytes.length - 1]! ^= 1;
  return bytes.toString('base64');
};

type Change = [name: string, apply: (envelope: Envelope) => void];
const COMMON: Change[] = [
  ['payload type', (envelope) => (envelope.payloadType = 'application/json')],
  ['signature', ({ signatures: [first] }) => (first!.sig = flipLastByte(first!.sig))],
  ['list of signatures', (envelope) => (envelope.signatures = [])],
];

describe.each([
  {
    kind: 'an attestation',
    payloadType: IN_TOTO_PAYLOAD_TYPE,
    sign: (key: Signer) => attestDsse(statement, [key]),
    document: (): object =>
      buildInTotoStatement(statement.subject.manifestDigest, statement.predicateType, statement),
    accept: (envelope: Envelope) => verifyEnvelope(envelope).verdict === 'valid',
    changes: [
      ...COMMON,
      ['payload', (envelope) => (envelope.payload = change(envelope.payload, '}', '} '))],
    ] as Change[],
  },
  {
    kind: 'a summary',
    payloadType: IN_TOTO,
    sign: (key: Signer) => signSummary(summaryOf(), [key]),
    document: (): object => summaryOf(),
    accept: acceptsSummary,
    changes: [
      ...COMMON,
      ['result', (envelope) => (envelope.payload = change(envelope.payload, 'PASSED', 'FAILED'))],
      ['time', (envelope) => (envelope.payload = change(envelope.payload, '2026-11-21T12', '2026-11-21T11'))],
    ] as Change[],
  },
])('$kind', ({ payloadType, sign, document, accept, changes }) => {
  it('that a key or a command signed is verified by sigstore, openssl and this program', async () => {
    const program = await commandSigner({
      command: ['openssl', 'dgst', '-sha256', '-sign', join(folder, 'key.pem')],
      publicKey: signer,
    });
    for (const by of [signer, program]) {
      const envelope = parseEnvelope(encodeDsse(await sign(by)));
      expect(await checkEnvelope(envelope, accept)).toEqual([true, true, true]);
    }
  });

  it.each(changes)('is refused by sigstore, openssl and this program if its %s changed', async (_, apply) => {
    const envelope = parseEnvelope(encodeDsse(await sign(signer)));
    apply(envelope);
    expect(await checkEnvelope(envelope, accept)).toEqual([false, false, false]);
  });

  it('that openssl signed is accepted however its payload is formatted', async () => {
    for (const text of [JSON.stringify(document()), JSON.stringify(document(), null, 2)]) {
      const envelope = await signWithOpenssl(Buffer.from(text), payloadType, signer, folder);
      expect([verifyWithSigstore(envelope, signer), accept(envelope)]).toEqual([true, true]);
    }
  });
});

it('an attestation with another key id is refused by this program alone, because sigstore uses it as a hint only', async () => {
  const envelope = parseEnvelope(encodeDsse(await attestDsse(statement, [signer])));
  envelope.signatures[0]!.keyid = 'other';
  expect(verifyWithSigstore(envelope, signer)).toBe(true);
  expect(verifyEnvelope(envelope).verdict).not.toBe('valid');
});

it('an attestation with another predicate type is refused by this program despite a valid signature', async () => {
  const other = {
    ...buildInTotoStatement(statement.subject.manifestDigest, statement.predicateType, statement),
    predicateType: 'https://slsa.dev/provenance/v1',
  };
  const payload = Buffer.from(JSON.stringify(other));
  const envelope = await signWithOpenssl(payload, IN_TOTO_PAYLOAD_TYPE, signer, folder);
  expect(verifyWithSigstore(envelope, signer)).toBe(true);
  expect(errorsOf(verifyEnvelope(envelope))).toEqual(['attestation.PREDICATE_UNSUPPORTED']);
});

it('the bytes to sign equal those of @sigstore/core for any payload', () => {
  for (const text of ['', '{}', 'ä€'.repeat(100)]) {
    const payload = Buffer.from(text);
    expect(Buffer.from(encodePreAuth(IN_TOTO_PAYLOAD_TYPE, payload))).toEqual(
      sigstoreDsse.preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload),
    );
  }
});
