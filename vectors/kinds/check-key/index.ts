import type { Kind } from '../../kind.ts';
import { type Expected, type Input, expectedSchema, inputSchema } from './case.ts';
import { names, purposes } from './names.ts';
import { scopes } from './scopes.ts';
import { certificates, revocations, windows } from './times.ts';

export const checkKeys: Kind<Input, Expected> = {
  name: 'check-key',
  about: 'a trust store and what a statement claims, and whether a key is valid for it',
  clause: 'formats §3',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...names(), ...purposes(), ...scopes(), ...windows(), ...revocations(), ...certificates()],
};
