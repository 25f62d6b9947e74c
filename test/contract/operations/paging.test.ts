import { describe, expect, it } from 'vitest';
import { pageQuerySchema } from '../../../src/contract/operations/answers.ts';
import { chars } from '../formats.ts';

const limitOf = (limit: unknown) => pageQuerySchema.safeParse({ limit });

describe('the query of a list', () => {
  it('has 50 items by default', () => {
    expect(pageQuerySchema.parse({})).toEqual({ limit: 50 });
  });

  it('reads a page size from 1 to 100', () => {
    for (let limit = 1; limit <= 100; limit++) expect(limitOf(String(limit)).data).toEqual({ limit });
  });

  it.each([
    '0',
    '101',
    '',
    '9'.repeat(400),
    ' 10',
    '10\n',
    '010',
    '1e1',
    '0x0a',
    '10.0',
    '١٠',
    10,
    null,
    ['10'],
  ])('refuses the page size %j', (limit) => expect(limitOf(limit).success).toBe(false));

  it('accepts a cursor of 1 to 2048 characters', () => {
    const { accepts, rejects } = chars(1, 2048);
    for (const cursor of accepts) expect(pageQuerySchema.safeParse({ cursor }).success).toBe(true);
    for (const cursor of rejects) expect(pageQuerySchema.safeParse({ cursor }).success).toBe(false);
    expect(pageQuerySchema.parse({ cursor: 'c', limit: '7' })).toEqual({ cursor: 'c', limit: 7 });
  });

  it('refuses unknown parameters', () => {
    expect(pageQuerySchema.safeParse({ pageSize: '10' }).success).toBe(false);
  });
});
