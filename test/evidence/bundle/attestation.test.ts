import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import {
  parseAttestation,
  sliceStatement,
  encodeStatement,
} from '../../../src/evidence/bundle/attestation.ts';
import { tries } from '../../support/deep.ts';
import { makePart, makeSigner } from '../../support/evidence.ts';
import { forAll } from '../../support/property.ts';

const attestation = (await makePart(1, makeSigner())).packed.attestation!;

test('the signed part of canonical bytes is the canonical form of the statement, whatever strings they hold', () => {
  const text = fc
    .oneof(fc.constant('","statement":{}'), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }))
    .filter((value) => value.isWellFormed());
  forAll(tries(100, 2_000), [text, text], (signature, issuer) => {
    const document = canonicalBytes({
      ...attestation,
      signature,
      statement: { ...attestation.statement, issuer },
    });
    const parsed = parseAttestation(document);
    expect(sliceStatement(document, parsed)).toEqual(encodeStatement(parsed.statement));
  });
});
