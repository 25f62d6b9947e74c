import * as fc from 'fast-check';
import { checkKey } from '../../src/trust/check-key.ts';
import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64, fromUtf8, toUtf8 } from '../../src/bytes/text/encoding.ts';
import { createSigner, type Signer } from '../../src/trust/key/signer.ts';
import {
  encodeDsse,
  parseDsse,
  encodePreAuth,
  signDsse,
  buildSignedMessage,
  type DsseEnvelope,
} from '../../src/trust/dsse.ts';
import { trustStore } from '../../src/trust/store.ts';
import { verifySignatures, type SignatureClaim } from '../../src/trust/signatures.ts';
import { verifySignature } from '../../src/trust/key/signer.ts';
import type { Purpose } from '../../src/trust/trusted-key.ts';
import { codeOf, implementations, pointOf, scalarOf, trusted } from './makers.ts';
import { forAll } from '../support/property.ts';

const TYPE = 'application/vnd.in-toto+json';
const payload = toUtf8('{"a":1}');
const [first, second] = [createSigner(scalarOf(1)), createSigner(scalarOf(2))];
const statement: SignatureClaim = { issuedAtMs: 0, purpose: 'summary' };
const purposes: Purpose[] = ['summary'];
const both = trustStore([trusted(1, { purposes }), trusted(2, { purposes })]);

const verifyEnvelope = (
  envelope: DsseEnvelope,
  ...rest: Parameters<typeof verifySignatures> extends [unknown, ...infer R] ? R : never
) => verifySignatures(buildSignedMessage(envelope), ...rest);
const signed = (...signers: [Signer, ...Signer[]]): Promise<DsseEnvelope> =>
  signDsse({ payloadType: TYPE, payload }, signers);
const parse = (value: unknown) => parseDsse(toUtf8(JSON.stringify(value)));
const member = (changes: Record<string, unknown>) => ({
  payloadType: TYPE,
  payload: 'e30=',
  signatures: [{ keyid: 'k', sig: 'AAAA' }],
  ...changes,
});

const many = (count: number) => member({ signatures: Array.from({ length: count }, () => ({ sig: '' })) });

it('the bytes that an envelope signs are those of the example of DSSE', () => {
  const bytes = encodePreAuth('http://example.com/HelloWorld', toUtf8('hello world'));
  expect(fromUtf8(bytes)).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
});

it('the bytes that an envelope signs count bytes, not characters', () => {
  expect(fromUtf8(encodePreAuth('ä', toUtf8('€')))).toBe('DSSEv1 2 ä 3 €');
});

it('the bytes that an envelope signs differ whenever type or payload differ, wherever the border between them is', () => {
  const text = fc.string({ maxLength: 12 });
  forAll(100, [text, text, text, text], (a, b, c, d) => {
    fc.pre(a !== c || b !== d);
    const [bytesA, bytesB] = [encodePreAuth(a, toUtf8(b)), encodePreAuth(c, toUtf8(d))];
    expect(Buffer.compare(bytesA, bytesB)).not.toBe(0);
  });
});

describe('an envelope', () => {
  it('is parsed as it was written, for any content', () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    const signature = fc.record({
      keyId: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
      signature: bytes,
    });
    const others = fc.array(signature, { maxLength: 5 });
    const types = fc.string({ minLength: 1, maxLength: 40 });
    forAll(100, [types, bytes, signature, others], (payloadType, body, main, more) => {
      const envelope: DsseEnvelope = { payloadType, payload: body, signatures: [main, ...more] };
      expect(parseDsse(encodeDsse(envelope))).toEqual(envelope);
    });
  });

  it('is parsed or refused with a code, for any bytes', () => {
    forAll(100, [fc.oneof(fc.json().map(toUtf8), fc.uint8Array())], (bytes) => {
      codeOf(() => parseDsse(bytes));
    });
  });

  it('may hold members that DSSE does not name, and __proto__ is one of them', () => {
    const text =
      '{"__proto__":{"payload":"x"},"payload":"e30=","payloadType":"t","signatures":[{"sig":"AAAA","x":1}]}';
    expect(parseDsse(toUtf8(text))).toMatchObject({ payloadType: 't', payload: toUtf8('{}') });
  });

  it('may have 64 signatures and not 65', () => {
    expect(parse(many(64)).signatures.length).toBe(64);
    expect(codeOf(() => parse(many(65)))).toBe('dsse.SIGNATURES_EXCEEDED');
  });

  it('is not read beyond its limit of bytes', () => {
    const bytes = toUtf8(JSON.stringify(member({})));
    expect(codeOf(() => parseDsse(bytes, { maxBytes: bytes.length }))).toBeUndefined();
    expect(codeOf(() => parseDsse(bytes, { maxBytes: bytes.length - 1 }))).toBe('json.TOO_LARGE');
  });
});

it('base64 is read as Node writes it, and only one text encodes the bytes', () => {
  forAll(100, [fc.uint8Array({ maxLength: 200 })], (bytes) => {
    const text = Buffer.from(bytes).toString('base64');
    expect(toBase64(bytes)).toBe(text);
    expect(fromBase64(text)).toEqual(bytes);
  });
  const texts = fc.string({ unit: fc.constantFrom('A', 'Q', 'g', 'w', '+', '/', '='), maxLength: 12 });
  forAll(100, [texts], (text) => {
    const bytes = fromBase64(text);
    if (bytes !== undefined) expect(toBase64(bytes)).toBe(text);
  });
});

it.each(implementations)(
  'the signers of an envelope are the trusted keys whose signatures verify, by %s code',
  async (_, implementation) => {
    const { distinct, keys } = verifyEnvelope(await signed(first, second), both, statement, (check) =>
      verifySignature({ ...check, implementation }),
    );
    expect(distinct).toBe(2);
    expect(keys.map(({ keyId }) => keyId)).toEqual([first.keyId, second.keyId]);
  },
);

it.each(['__proto__', 'constructor', 'toString', 'nobody'])(
  'the signers of an envelope do not include the unknown key id %s',
  async (keyId) => {
    const { signatures, ...rest } = await signed(first);
    const result = verifyEnvelope({ ...rest, signatures: [{ ...signatures[0], keyId }] }, both, statement);
    expect(result.distinct).toBe(0);
    expect(result.signatures[0]?.problem?.code).toBe('trust.KEY_UNKNOWN');
  },
);

it('an unknown key of an envelope is shown next to the trusted name, with letters that can look like others', async () => {
  const envelope = await signed(first);
  const claim = { ...statement, issuer: 'acm\u0435' };
  const [result] = verifyEnvelope(envelope, both, claim).signatures;
  expect(result?.problem).toEqual(
    checkKey(both, { ...claim, keyId: first.keyId }).problems.find(
      ({ code }) => code === 'trust.KEY_UNKNOWN',
    ),
  );
  expect(result?.problem?.message).toContain('only the actual name has U+0435');
});

it('the signers of an envelope: a signature without a key id is only tried with the key in the payload', async () => {
  const { signatures, ...rest } = await signed(first);
  const nameless: DsseEnvelope = { ...rest, signatures: [{ signature: signatures[0].signature }] };
  const [result] = verifyEnvelope(nameless, both, statement).signatures;
  expect(result?.problem?.code).toBe('dsse.KEYID_MISMATCH');
  expect(verifyEnvelope(nameless, both, { ...statement, keyId: first.keyId }).distinct).toBe(1);
  expect(verifyEnvelope(nameless, both, { ...statement, keyId: second.keyId }).distinct).toBe(0);
});

it('the signers of an envelope are limited to the issuer in the payload', async () => {
  const envelope = await signed(first);
  expect(verifyEnvelope(envelope, both, { ...statement, issuer: 'acme' }).distinct).toBe(1);
  expect(verifyEnvelope(envelope, both, { ...statement, issuer: 'acme.example' }).distinct).toBe(0);
});

it.each<[string, Signer]>([
  ['another key', { ...first, point: pointOf(3) }],
  ['garbage', { ...first, sign: () => Promise.resolve(new Uint8Array(8)) }],
])('signing refuses a signature that does not verify: %s', async (_, signer) => {
  await expect(signed(signer)).rejects.toMatchObject({ code: 'trust.SIGNER_FAULT' });
});
