import type { Kind } from '../../kind.ts';
import { type Case, type Input, expectedSchema, inputSchema } from './case.ts';
import { documents } from './documents.ts';
import { encodings, forged } from './forged.ts';
import { trusted, untrusted } from './trusted.ts';

export const attestations: Kind<Input, Case['expected']> = {
  name: 'attestations',
  about:
    'an attestation of a bundle by itself, the trust store and what is known of the evidence, and the result',
  clause: 'formats §2, §3, §4 Attestation alone',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...trusted(), ...untrusted(), ...forged(), ...encodings(), ...documents()],
};
