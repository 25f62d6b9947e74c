import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatJsonPointer, parseJsonPointer } from '../../../src/bytes/json/pointer.ts';

it.each<[string, readonly (string | number)[]]>([
  ['', []],
  ['/', ['']],
  ['/a/0', ['a', 0]],
  ['/a~1b/~0/~01', ['a/b', '~', '~1']],
])('the JSON pointer %j names the path %j', (pointer, path) => {
  expect(formatJsonPointer(path)).toBe(pointer);
  expect(parseJsonPointer(pointer)).toEqual(path.map(String));
});

it('a JSON pointer of any path parses to that path', () => {
  const names = fc.array(fc.oneof(fc.string(), fc.constantFrom('~1', '~0', '/', '~', '~01')));
  fc.assert(
    fc.property(names, (path) => {
      expect(parseJsonPointer(formatJsonPointer(path))).toEqual(path);
    }),
  );
});
