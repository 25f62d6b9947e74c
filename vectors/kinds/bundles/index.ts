import type { Kind } from '../../kind.ts';
import { archives, coverages, expectations } from './archives.ts';
import { attested } from './attested.ts';
import { bindings } from './bindings.ts';
import { type Case, type Input, expectedSchema, inputSchema } from './case.ts';
import { manifests } from './manifests.ts';
import { objects } from './objects.ts';
import { sound } from './sound.ts';

export const bundles: Kind<Input, Case['expected']> = {
  name: 'bundles',
  about: 'a part archive by itself, a trust store and a time, and the verdict',
  clause: 'formats §1, §2, §3, §4',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...objects(),
    ...manifests(),
    ...bindings(),
    ...attested(),
    ...archives(),
    ...expectations(),
    ...coverages(),
  ],
};
