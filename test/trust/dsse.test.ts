import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64, fromUtf8, toUtf8 } from '../../src/bytes/text/encoding.ts';
import {
  createSigner,
  encodeDsse,
  parseDsse,
  encodePreAuth,
  signDsse,
  buildSignedMessage,
  trustStore,
  verifySignatures,
  type DsseEnvelope,
  type SignatureClaim,
  type Purpose,
  type Signer,
} from '../../src/trust/index.ts';
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
    const [left, right] = [encodePreAuth(a, toUtf8(b)), encodePreAuth(c, toUtf8(d))];
    expect(Buffer.compare(left, right)).not.toBe(0);
  });
});

describe('an envelope', () => {
  it('is read back as it was written, whatever is in it', () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    const signature = fc.record({
      keyId: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
      signature: bytes,
    });
    forAll(
      100,
      [fc.string({ minLength: 1, maxLength: 40 }), bytes, signature, fc.array(signature, { maxLength: 5 })],
      (payloadType, body, one, more) => {
        const envelope: DsseEnvelope = { payloadType, payload: body, signatures: [one, ...more] };
        expect(parseDsse(encodeDsse(envelope))).toEqual(envelope);
      },
    );
  });

  it('never comes to anything but an envelope or a code, whatever the bytes', () => {
    forAll(100, [fc.oneof(fc.json().map(toUtf8), fc.uint8Array())], (bytes) => {
      codeOf(() => parseDsse(bytes));
    });
  });

  it('may lack a key id, and an empty one is none', () => {
    for (const signature of [{ sig: 'AAAA' }, { keyid: '', sig: 'AAAA' }])
      expect(parse(member({ signatures: [signature] })).signatures).toEqual([
        { signature: new Uint8Array(3) },
      ]);
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

  it.each(['-_8=', '+/8='])('may have %s in either alphabet', (text) => {
    expect(parse(member({ payload: text })).payload).toEqual(Uint8Array.of(251, 255));
  });
});

it('base64 is read as Node writes it, and only one text encodes the bytes', () => {
  forAll(100, [fc.uint8Array({ maxLength: 200 })], (bytes) => {
    const text = Buffer.from(bytes).toString('base64');
    expect(toBase64(bytes)).toBe(text);
    expect(fromBase64(text)).toEqual(bytes);
  });
  forAll(
    100,
    [fc.string({ unit: fc.constantFrom('A', 'Q', 'g', 'w', '+', '/', '='), maxLength: 12 })],
    (text) => {
      const bytes = fromBase64(text);
      if (bytes !== undefined) expect(toBase64(bytes)).toBe(text);
    },
  );
});

describe('who signed', () => {
  it.each(implementations)(
    'is every trusted key whose signature verifies, by %s code',
    async (_, implementation) => {
      const { distinct, keys } = verifyEnvelope(await signed(first, second), both, statement, implementation);
      expect(distinct).toBe(2);
      expect(keys.map(({ keyId }) => keyId)).toEqual([first.keyId, second.keyId]);
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'nobody'])(
    'is nobody under the name %s',
    async (keyId) => {
      const { signatures, ...rest } = await signed(first);
      const judged = verifyEnvelope({ ...rest, signatures: [{ ...signatures[0], keyId }] }, both, statement);
      expect(judged.distinct).toBe(0);
      expect(judged.signatures[0]?.problem?.code).toBe('trust.KEY_UNKNOWN');
    },
  );

  it('is not asked of every key: a signature without a name is tried with the key that the payload names', async () => {
    const { signatures, ...rest } = await signed(first);
    const nameless: DsseEnvelope = { ...rest, signatures: [{ signature: signatures[0].signature }] };
    expect(verifyEnvelope(nameless, both, statement).signatures[0]?.problem?.code).toBe(
      'dsse.KEYID_MISMATCH',
    );
    expect(verifyEnvelope(nameless, both, { ...statement, keyId: first.keyId }).distinct).toBe(1);
    expect(verifyEnvelope(nameless, both, { ...statement, keyId: second.keyId }).distinct).toBe(0);
  });

  it('is limited to an issuer when one is named', async () => {
    const envelope = await signed(first);
    expect(verifyEnvelope(envelope, both, { ...statement, issuer: 'acme' }).distinct).toBe(1);
    expect(verifyEnvelope(envelope, both, { ...statement, issuer: 'acme.example' }).distinct).toBe(0);
  });
});

it('signing throws a signature away that does not verify, whoever made it', async () => {
  const liar: Signer = { ...first, point: pointOf(3) };
  await expect(signed(liar)).rejects.toMatchObject({ code: 'trust.SIGNER_FAULT' });
  const garbage: Signer = { ...first, sign: () => Promise.resolve(new Uint8Array(8)) };
  await expect(signed(garbage)).rejects.toMatchObject({ code: 'trust.SIGNER_FAULT' });
});
