import type { Kind } from '../../kind.ts';
import { expectedSchema, inputSchema, type Case } from './case.ts';
import { brokenChains, soundChains } from './chains.ts';
import { brokenSignatures, soundSignatures } from './signatures.ts';

export const receipts: Kind<Case['input'], Case['expected']> = {
  name: 'receipts',
  about: 'the receipts of a mirror, a trust store and a time, and whether they are one chain',
  clause: 'formats §1 Receipts, §2 Signed receipts, §3',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...soundChains(), ...brokenChains(), ...soundSignatures(), ...brokenSignatures()],
};
