import type { Kind } from '../../kind.ts';
import { type Case, type Input, expectedSchema, inputSchema } from './case.ts';
import { contents } from './contents.ts';
import { kinds } from './entry-kinds.ts';
import { headers } from './headers.ts';
import { layout } from './layout.ts';
import { limits } from './limits.ts';
import { names } from './names.ts';
import { sound, unusual } from './sound.ts';
import { zip64 } from './zip64.ts';

export const archives: Kind<Input, Case['expected']> = {
  name: 'archives',
  about: 'a ZIP archive, and its entries when there is one reading of it only',
  clause: 'APPNOTE 6.3.10; RFC 1951; formats §1, Part archive, Paths; formats, Limits',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...sound(),
    ...unusual(),
    ...names(),
    ...kinds(),
    ...headers(),
    ...layout(),
    ...zip64(),
    ...contents(),
    ...limits(),
  ],
};
