import { expect, it, vi } from 'vitest';
import { DrillproofError, LimitError, TransportError } from '../src/errors.ts';

it('an error of this project is an instance of its class and of the classes above it', () => {
  const limit: unknown = new LimitError('json.TOO_LARGE', 'too large');
  expect(limit).toBeInstanceOf(LimitError);
  expect(limit).toBeInstanceOf(DrillproofError);
  expect(limit).toBeInstanceOf(Error);
  expect(limit).not.toBeInstanceOf(TransportError);
  expect(new DrillproofError('json.INVALID', 'no')).not.toBeInstanceOf(LimitError);
});

it('an error of another copy of this module is an instance of the class too', async () => {
  vi.resetModules();
  const copy = await import('../src/errors.ts');
  expect(copy.DrillproofError).not.toBe(DrillproofError);
  expect(new copy.DrillproofError('json.INVALID', 'no')).toBeInstanceOf(DrillproofError);
  expect(new copy.LimitError('json.TOO_LARGE', 'no')).toBeInstanceOf(DrillproofError);
});

it.each([new Error('x'), { code: 'json.INVALID', message: 'x' }, null, undefined, 'json.INVALID'])(
  '%j is not an error of this project',
  (value) => {
    expect(value instanceof DrillproofError).toBe(false);
  },
);
