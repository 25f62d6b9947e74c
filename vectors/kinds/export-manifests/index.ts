import type { Kind } from '../../kind.ts';
import { documents, members, rows } from './broken.ts';
import { type Case, expectedSchema, inputSchema } from './case.ts';
import { sounds } from './sound.ts';

export const exportManifests: Kind<Case['input'], Case['expected']> = {
  name: 'export-manifests',
  about: 'the manifest of an export, and whether it follows its format',
  clause: 'formats §1, Export manifest, Canonical or parsed',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...sounds(), ...members(), ...rows(), ...documents()],
};
