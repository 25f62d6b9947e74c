import { platform } from '#platform';
import * as z from 'zod/mini';
import type { P256 } from '../../bytes/platform.ts';
import { platform as portable } from '../../bytes/platform-portable.ts';
import { toHex, toUtf8 } from '../../bytes/text/encoding.ts';
import { platform as native } from '../../node/platform-node.ts';
import { readSigningKey, readVerifyingKey } from '../../node/keys/keys.ts';
import { checkKey } from '../../trust/check-key.ts';
import { parseTrustStore, trustStore, trustStoreJwks } from '../../trust/store.ts';
import { PURPOSES } from '../../trust/trusted-key.ts';
import { verifySignature } from '../../trust/key/signer.ts';
import {
  bytesOfBase64,
  bytesOfHex,
  type CaseKind,
  defineKind,
  type CaseOutcome,
  makeRefusal,
} from '../outcome.ts';

const signatureShape = z.object({ point: z.string(), message: z.string(), signature: z.string() });

const verifyWith =
  (implementation: P256) =>
  (input: z.infer<typeof signatureShape>): CaseOutcome => {
    const key = { point: bytesOfHex(input.point) };
    const [message, signature] = [bytesOfHex(input.message), bytesOfHex(input.signature)];
    return verifySignature({ key, message, signature, implementation })
      ? { verdict: 'valid' }
      : makeRefusal('attestation.SIGNATURE_INVALID');
  };

const keyShape = z.object({ base64: z.string(), use: z.enum(['verify', 'sign']) });
const readKey = (input: z.infer<typeof keyShape>): Record<string, unknown> => {
  const file = bytesOfBase64(input.base64);
  const { point, ...key } = input.use === 'sign' ? readSigningKey(file).signer : readVerifyingKey(file);
  const { keyId, notBeforeMs, notAfterMs, fromCertificate } = {
    notBeforeMs: undefined,
    notAfterMs: undefined,
    fromCertificate: undefined,
    ...key,
  };
  const validity = fromCertificate === undefined ? {} : { notBeforeMs, notAfterMs, fromCertificate };
  return { point: toHex(point), keyId, ...validity };
};

const listKeys = (bytes: Uint8Array): Record<string, unknown>[] =>
  parseTrustStore(bytes).keys.map(({ issuer, keyId, purposes, compromised }) => ({
    issuer,
    keyId,
    purposes,
    compromised,
  }));

const keyCheckShape = z.object({
  trust: z.string(),
  statement: z.object({
    issuer: z.string(),
    keyId: z.string(),
    issuedAtMs: z.int(),
    purpose: z.enum(PURPOSES),
    projectId: z.exactOptional(z.string()),
    organizationId: z.exactOptional(z.string()),
    asOfMs: z.exactOptional(z.int()),
  }),
});

export const trustKinds: Readonly<Record<string, CaseKind>> = {
  signatures: defineKind(
    signatureShape,
    ['native', verifyWith(native.p256)],
    ['portable', verifyWith(portable.p256)],
    ['of the platform', verifyWith(platform.p256)],
  ),
  'key-files': defineKind(keyShape, ['bytes', readKey]),
  'trust-stores': defineKind(
    z.object({ base64: z.string() }),
    ['bytes', ({ base64 }) => ({ keys: listKeys(bytesOfBase64(base64)) })],
    [
      'written and read again',
      ({ base64 }) => {
        const store = parseTrustStore(bytesOfBase64(base64));
        return { keys: listKeys(toUtf8(JSON.stringify(trustStoreJwks(trustStore(store.keys))))) };
      },
    ],
  ),
  'check-key': defineKind(keyCheckShape, [
    'store',
    ({ trust, statement }) => {
      const { problems, notes, unchecked } = checkKey(parseTrustStore(toUtf8(trust)), statement);
      const codes = [...problems, ...notes].map(({ code }) => code).toSorted();
      return { verdict: problems.length === 0 ? 'valid' : 'invalid', codes, unchecked };
    },
  ]),
};
