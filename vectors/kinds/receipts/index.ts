import type { Kind } from '../../kind.ts';
import { expectedSchema, inputSchema, type Case } from './case.ts';
import { brokenChains, soundChains } from './chains.ts';

export const receipts: Kind<Case['input'], Case['expected']> = {
  name: 'receipts',
  about: 'the receipts of a mirror, and whether they form one chain',
  clause: 'formats §1 Receipts',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...soundChains(), ...brokenChains()],
};
