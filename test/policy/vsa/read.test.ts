import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { fromUtf8, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { attestDsse } from '../../../src/evidence/in-toto.ts';
import { readSummary } from '../../../src/policy/vsa/read.ts';
import { verifyDsse } from '../../../src/verify/verify-dsse.ts';
import { errorsOf, makePart, makeSigner, makeTrust } from '../../support/evidence.ts';
import { AS_OF_MS, enveloped, exportInput, IN_TOTO, MANIFEST_B, summaryOf } from '../vsa-makers.ts';
import { forAll } from '../../support/property.ts';

type Path = readonly (string | number)[];
type Edit = readonly [path: Path, value: unknown];

/** The statement with changed members; `undefined` removes one, and the index after the end of a list appends. */
function changed(...edits: readonly Edit[]): Uint8Array {
  const statement: object = structuredClone(summaryOf());
  for (const [path, value] of edits) put(statement, path, value);
  return canonicalBytes(statement);
}

function put(root: object, path: Path, value: unknown): void {
  const [step = '', ...rest] = path;
  if (rest.length === 0) {
    if (value === undefined) Reflect.deleteProperty(root, step);
    else Reflect.set(root, step, value);
    return;
  }
  const next: unknown = Reflect.get(root, step);
  if (typeof next !== 'object' || next === null) throw new TypeError(`nothing at ${step}`);
  put(next, rest, value);
}

const codeOf = (payload: Uint8Array, payloadType = IN_TOTO): string | undefined => {
  try {
    readSummary({ payloadType, payload });
    return undefined;
  } catch (error) {
    if (error instanceof DrillproofError) return error.code;
    throw error;
  }
};

describe('reading a summary', () => {
  const [subject] = summaryOf().subject;

  const many = (length: number) => changed([['subject'], Array.from({ length }, () => subject)]);

  it('accepts 10,000 subjects and refuses 10,001', () => {
    expect(codeOf(many(10_000))).toBeUndefined();
    expect(codeOf(many(10_001))).toBe('vsa.INVALID');
  });

  it('refuses every other payload type and predicate type', () => {
    for (const type of ['application/json', `${IN_TOTO} `, 'application/vnd.in-toto+JSON', ''])
      expect(codeOf(changed(), type)).toBe('dsse.PAYLOAD_TYPE_UNSUPPORTED');
    for (const type of [
      'https://slsa.dev/verification_summary/v0.2',
      'https://slsa.dev/verification_summary/v1.1',
      'https://slsa.dev/provenance/v1',
      'urn:drillproof:attestation:evidence:v1',
    ])
      expect(codeOf(changed([['predicateType'], type]))).toBe('attestation.PREDICATE_UNSUPPORTED');
  });

  it('refuses a repeated member, which two readers see differently', () => {
    const result = '"verificationResult":"PASSED"';
    const twice = fromUtf8(changed()).replace(result, `"verificationResult":"FAILED",${result}`);
    expect(codeOf(toUtf8(twice))).toBe('json.MEMBER_DUPLICATE');
  });

  it('throws only an error with a code for any JSON', () => {
    forAll(100, [fc.json()], (text) => {
      expect(codeOf(toUtf8(text))).toMatch(/^(vsa|json|attestation)\./);
    });
  });

  it('throws only an error with a code if any member has any other value', () => {
    const members = Object.keys(summaryOf().predicate).map((name) => `predicate.${name}`);
    const paths = ['subject', 'predicate', '_type', 'predicateType', ...members];
    forAll(100, [fc.constantFrom(...paths), fc.jsonValue()], (path, value) => {
      const payload = changed([path.split('.'), value]);
      const code = codeOf(payload);
      if (code !== undefined) expect(code).toMatch(/^(vsa|json|attestation)\./);
    });
  });
});

it('a statement about a bundle is refused as a summary', async () => {
  const signer = makeSigner();
  const { packed } = await makePart(1, signer);
  const { payloadType, payload } = await attestDsse(packed.attestation!.statement, [signer]);
  expect(codeOf(payload, payloadType)).toBe('attestation.PREDICATE_UNSUPPORTED');
});

it('a summary is refused as a statement about a bundle or an export', async () => {
  const signer = makeSigner();
  const inputs = [exportInput({ manifestDigest: MANIFEST_B })];
  const envelope = await enveloped(summaryOf({ inputs }), [signer]);
  for (const purpose of ['evidence', 'export'] as const) {
    const report = verifyDsse(envelope, { asOfMs: AS_OF_MS, trust: makeTrust(signer), purpose });
    expect(errorsOf(report)).not.toEqual([]);
    expect(report.verdict).toBe('invalid');
  }
});
