import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCursors, type CursorScope } from '../../../src/server/http/sealed.ts';
import { forAll } from '../../support/property.ts';

const scope: CursorScope = {
  list: 'local-reports',
  organizationId: 'org_000000000001',
  projectId: 'prj_000000000001',
  evidenceExportId: 'evexp_000000000001',
};
const cursors = createCursors(new Uint8Array(32).fill(7));
const invalid = expect.objectContaining({ code: 'control.CURSOR_INVALID' });

it('a cursor continues after its ordinal', () => {
  forAll(100, [fc.nat()], (ordinal) => cursors.decode(scope, cursors.encode(scope, ordinal)) === ordinal);
});

it('a cursor is at most 2048 characters of base64url', () => {
  expect(cursors.encode(scope, Number.MAX_SAFE_INTEGER)).toMatch(/^[A-Za-z0-9_-]{1,2048}$/);
});

it('a list without a cursor begins before the first item', () => {
  expect(cursors.decode(scope, undefined)).toBe(-1);
});

it('a cursor is refused with any one character changed, and so any bit, the spare bits of the last included', () => {
  const cursor = cursors.encode(scope, 41);
  for (let at = 0; at < cursor.length; at++) {
    for (const other of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+ ') {
      if (other === cursor[at]) continue;
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      expect(() => cursors.decode(scope, changed)).toThrow(invalid);
    }
  }
});

it.each(['list', 'organizationId', 'projectId', 'evidenceExportId'] as const)(
  'a cursor is bound to its %s',
  (field) => {
    const cursor = cursors.encode(scope, 3);
    expect(() => cursors.decode({ ...scope, [field]: `${scope[field]}x` }, cursor)).toThrow(invalid);
  },
);

it('a cursor of another installation is refused', () => {
  const other = createCursors(new Uint8Array(32).fill(8));
  expect(() => cursors.decode(scope, other.encode(scope, 3))).toThrow(invalid);
});

it('any other text is refused as a cursor', () => {
  forAll(100, [fc.string()], (text) => {
    expect(() => cursors.decode(scope, text)).toThrow(invalid);
  });
});
