import { expect, it } from 'vitest';
import { loadEngine, queueError } from '../../../src/node/queue/queue.ts';

const absent = () =>
  Promise.reject(Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' }));

it('loadEngine names the missing package', async () => {
  await expect(loadEngine(absent)).rejects.toMatchObject({ code: 'io.PACKAGE_MISSING', message: /pg-boss/ });
});

it('loadEngine throws the error of a broken package', async () => {
  await expect(loadEngine(() => Promise.reject(new SyntaxError('x')))).rejects.toThrow(SyntaxError);
});

it('loadEngine loads pg-boss if it is installed', async () => {
  expect((await loadEngine()).PgBoss).toBeTypeOf('function');
});

it.each([
  ['ECONNREFUSED', 'queue.UNREACHABLE'],
  ['ENOTFOUND', 'queue.UNREACHABLE'],
  ['57P01', 'queue.UNREACHABLE'],
  ['08006', 'queue.UNREACHABLE'],
  ['53300', 'queue.UNREACHABLE'],
  [undefined, 'queue.UNREACHABLE'],
  ['28P01', 'queue.REFUSED'],
  ['3D000', 'queue.REFUSED'],
  ['42501', 'queue.REFUSED'],
])('an error %s of the database is %s', (code, expected) => {
  expect(queueError(Object.assign(new Error('why'), { code }), 'postgres://h/d').code).toBe(expected);
});
