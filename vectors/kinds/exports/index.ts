import type { Kind } from '../../kind.ts';
import { bags } from './bags.ts';
import { type Expected, type Input, expectedSchema, inputSchema } from './case.ts';
import { coverages } from './coverage.ts';
import { documents } from './documents.ts';
import { envelopes } from './envelopes.ts';
import { expectations, limits } from './expectations.ts';
import { lists } from './lists.ts';
import { oneFile } from './one-file.ts';
import { parts } from './parts.ts';
import { reports } from './reports.ts';
import { rows } from './rows.ts';
import { sound } from './sound.ts';

export const exports: Kind<Input, Expected> = {
  name: 'exports',
  about: 'a whole export, a trust store and a time, and the verdict',
  clause: 'formats §1, §2, §3, §4; formats, Limits',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...parts(),
    ...rows(),
    ...documents(),
    ...lists(),
    ...reports(),
    ...expectations(),
    ...limits(),
    ...oneFile(),
    ...coverages(),
    ...bags(),
    ...envelopes(),
  ],
};
