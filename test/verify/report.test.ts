import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { callableNames } from '../../src/contract/operations/operations.ts';

/** The members of the types in a file without a comment that an editor shows. */
function listUndocumented(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter(
    (line, at) => /^ +readonly \w+\??:/.test(line) && !lines[at - 1]?.trimEnd().endsWith('*/'),
  );
}

it.each(['src/verify/report.ts', 'src/client/methods.ts'])(
  'each member of the types in %s has a comment',
  (file) => {
    expect(listUndocumented(file)).toEqual([]);
  },
);

it('the type of the client has a method for every callable operation', () => {
  const text = readFileSync('src/client/methods.ts', 'utf8');
  const declared = Array.from(text.matchAll(/: Method<'([^']+)'>/g), ([, name = '']) => name);
  expect(declared.toSorted()).toEqual(callableNames.toSorted());
});
