import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { zipSource } from '../../../src/evidence/source.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import { createPartContext } from '../../../src/verify/part/context.ts';
import { resolveSettings } from '../../../src/verify/options.ts';
import { walkPart } from '../../../src/verify/part/part.ts';
import { shareEqual } from '../../../src/verify/export/parts.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import { makeExport, makeTrust, NOW, pack } from '../../support/evidence.ts';
import { tries } from '../../support/deep.ts';
import { forAll } from '../../support/property.ts';

const json = (value: unknown): string => JSON.stringify(value);
/** Few names and values, so that members are often equal. */
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', '', 0, 1, null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', '__proto__'), tie('value'), { maxKeys: 3 }),
  ),
}));
const anyObject = fc.dictionary(fc.constantFrom('a', 'b', '0', '__proto__'), anyValue);

describe('shareEqual', () => {
  it('returns the same value, which is the other object if the two are equal', () => {
    forAll(tries(2000, 20_000), [anyObject, anyObject], (value, other) => {
      const before = [json(value), json(other)];
      const shared = shareEqual(value, other);
      expect(json(shared)).toBe(before[0]);
      expect(Object.is(shared, other)).toBe(before[0] === before[1]);
      expect([json(value), json(other)]).toEqual(before);
    });
  });

  it('takes an equal object, and the equal members of one that differs', () => {
    const other = { same: { a: [1] }, near: { kept: [2], b: 1 } };
    const value = structuredClone({ ...other, near: { kept: [2], b: 2 } });
    const shared = shareEqual(value, other);
    expect(shared).toEqual(value);
    expect(shared.same).toBe(other.same);
    expect(shared.near.kept).toBe(other.near.kept);
  });

  it.each([
    ['an array and an object', { a: [] }, { a: {} }],
    ['members in another order', { a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }],
    ['zeros of both signs', { a: [0] }, { a: [-0] }],
    ['a member of the prototype', { toString: 1 }, {}],
    ['an empty object and a prototype', JSON.parse('{"__proto__":{}}') as object, {}],
  ])('does not take these for equal: %s', (_what, value, other) => {
    const copy = structuredClone(value);
    expect(shareEqual(value, other)).not.toBe(other);
    expect(shareEqual(value, other)).toStrictEqual(copy);
  });
});

it('the reports on the parts of an export are complete, and share equal members', async () => {
  const sample = await makeExport({ parts: 3 });
  const bytes = await pack(Object.entries(sample.files));
  const copies: BundleReport[] = [];
  const options = { asOfMs: NOW, trust: makeTrust(sample.signer) };
  const { parts } = await verifyExport(zipSource(await openZip(memoryAccess(bytes))), {
    ...options,
    startThreads: () => async (path, listed) => {
      const { report } = await walkPart(
        memoryAccess(sample.files[path]!),
        createPartContext(resolveSettings(options), { listed }),
      );
      copies.push(structuredClone(report));
      return report;
    },
  });
  expect(json(parts)).toBe(json(copies));
  expect(new Set(parts.map(({ trust }) => trust)).size).toBe(1);
  expect(new Set(parts.map(({ checks }) => checks)).size).toBe(1);
});
