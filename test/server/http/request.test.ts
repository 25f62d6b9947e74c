import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operationNames, operationRow, operations } from '../../../src/contract/operations/operations.ts';
import { fillPath } from '../../../src/contract/operations/rows.ts';
import { createRouter } from '../../../src/server/http/request.ts';
import { forAll } from '../../support/property.ts';

const router = createRouter(operationNames.map((name) => ({ ...operationRow(name), target: name })));
const projectId = 'prj_0123456789ab';

describe('finding a route', () => {
  it('undoes the filling of a path, whatever the values, and the path stays one for an address parser', () => {
    const values = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((value) => value !== '.' && value !== '..');
    forAll(
      100,
      [fc.constantFrom(...operationNames), fc.array(values, { minLength: 3, maxLength: 3 })],
      (name, texts) => {
        const row = operationRow(name);
        const params = Object.fromEntries(
          Object.keys(row.params.shape).map((key, i) => [key, texts[i] ?? 'x']),
        );
        const path = fillPath(row, params);
        expect(router.find(row.method, path)).toEqual({ target: name, params });
        expect(new URL(`http://host.test${path}`).pathname).toBe(path);
      },
    );
  });

  const { path, method } = operations['evidence.bundles.read'];
  const bundle = path.replace('{projectId}', projectId).replace('{evidenceBundleId}', 'x');

  it('takes HEAD as GET, and no other method', () => {
    expect(router.find('HEAD', bundle)).toEqual(router.find(method, bundle));
    expect(router.find('POST', bundle)).toBeUndefined();
  });

  it.each([
    ['an empty parameter', '/v1/projects//evidence/x'],
    ['a segment too many', `${bundle}/`],
    ['a segment too few', '/v1/projects/p/evidence'],
    ['another word', '/v1/projects/p/evidences/x'],
    ['another version', '/v2/projects/p/evidence/x'],
  ])('has none for %s', (_, other) => {
    expect(router.find(method, other)).toBeUndefined();
    expect(router.listMethods(other)).toEqual([]);
  });

  it.each(['%zz', '%ff'])('keeps the parameter %s, which is not encoded text', (segment) => {
    expect(router.find(method, `/v1/projects/${segment}/evidence/x`)?.params['projectId']).toBe(segment);
  });

  it('never throws, whatever the path', () => {
    forAll(100, [fc.string({ unit: 'binary' })], (text) => {
      expect(router.listMethods(`/v1/projects/${text}`)).toBeInstanceOf(Array);
    });
  });
});

describe('the methods of a path', () => {
  it.each(operationNames)('include that of %s', (name) => {
    const row = operationRow(name);
    const params = Object.fromEntries(Object.keys(row.params.shape).map((key) => [key, 'x']));
    expect(router.listMethods(fillPath(row, params))).toContain(row.method);
  });

  it('are GET and HEAD for a read, POST for a change, and none without a route', () => {
    expect(router.listMethods(`/v1/projects/${projectId}/evidence-exports`)).toEqual(['GET', 'HEAD']);
    expect(router.listMethods(`/v1/projects/${projectId}/build-uploads`)).toEqual(['POST']);
    expect(router.listMethods('/v1/unheard-of')).toEqual([]);
    expect(router.listMethods('')).toEqual([]);
  });
});
