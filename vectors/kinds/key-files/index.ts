import type { Kind } from '../../kind.ts';
import { type Case, expectedSchema, inputSchema } from './case.ts';
import { signs } from './sign.ts';
import { verifies } from './verify.ts';

export const keyFiles: Kind<Case['input'], Case['expected']> = {
  name: 'key-files',
  about: 'a key file, and the key that is read from it',
  clause: 'RFC 7468; RFC 7517 §4; RFC 5480 §2; RFC 5958 §2; RFC 5915 §3; docs/verify/keys.md',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...verifies(), ...signs()],
};
