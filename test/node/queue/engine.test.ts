import { expect, it } from 'vitest';
import { loadEngine } from '../../../src/node/queue/engine.ts';
import { queueError } from '../../../src/node/queue/errors.ts';

const absent = () =>
  Promise.reject(Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' }));

it('says which package is missing', async () => {
  await expect(loadEngine(absent)).rejects.toMatchObject({ code: 'io.PACKAGE_MISSING', message: /pg-boss/ });
});

it('lets a package that is broken say so itself', async () => {
  await expect(loadEngine(() => Promise.reject(new SyntaxError('x')))).rejects.toThrow(SyntaxError);
});

it.each(['20.19.0', '22.11.9', '21.99.0'])(
  'refuses Node.js %s before it looks for the package',
  async (version) => {
    await expect(loadEngine(absent, version)).rejects.toMatchObject({ code: 'queue.ENGINE_UNSUPPORTED' });
  },
);

it.each(['22.12.0', '24.0.0', '23.1.0'])('takes Node.js %s', async (version) => {
  expect((await loadEngine(undefined, version)).PgBoss).toBeTypeOf('function');
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
