import type { Kind } from '../../kind.ts';
import { type Case, type Input, expectedSchema, inputSchema } from './case.ts';
import { envelopes, mixed, payloads, untrusted } from './refused.ts';
import { bound, counted, sound } from './sound.ts';

export const dsse: Kind<Input, Case['expected']> = {
  name: 'dsse',
  about: 'an in-toto statement in a DSSE envelope, the trust store and what it must be about, and the result',
  clause: 'formats §2 DSSE, §3',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...bound(),
    ...counted(),
    ...mixed(),
    ...untrusted(),
    ...envelopes(),
    ...payloads(),
  ],
};
