import type { Kind } from '../../kind.ts';
import { type Case, expectedSchema, inputSchema } from './case.ts';
import { keys } from './keys.ts';
import { loading, refusing } from './stores.ts';

export const trustStores: Kind<Case['input'], Case['expected']> = {
  name: 'trust-stores',
  about: 'the bytes of a trust store, and the keys that it holds, sorted by issuer and key id',
  clause: 'RFC 7517 §5; RFC 7518 §6.2; formats §3',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...loading(), ...refusing(), ...keys()],
};
