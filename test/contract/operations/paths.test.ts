import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedMethods, fillPath, matchPath } from '../../../src/contract/operations/rows.ts';
import { operationNames, operationRow, operations } from '../../../src/contract/operations/operations.ts';
import { forAll } from '../../support/property.ts';

const projectId = 'prj_0123456789ab';
const buildHash = `sha256:${'0'.repeat(64)}`;

describe('filling a path', () => {
  it('percent-encodes each parameter', () => {
    expect(fillPath(operations['builds.tools.source'], { projectId, buildHash })).toBe(
      `/v1/projects/${projectId}/builds/sha256%3A${'0'.repeat(64)}/tools/source`,
    );
  });

  it('keeps each parameter within its segment', () => {
    expect(fillPath({ path: '/a/{x}/b' }, { x: '../c?d#e%2f' })).toBe('/a/..%2Fc%3Fd%23e%252f/b');
  });

  it.each(['', '.', '..', '\ud800'])('refuses %j, which cannot be a segment', (x) => {
    expect(() => fillPath({ path: '/a/{x}/b' }, { x })).toThrow(TypeError);
  });

  it('refuses a parameter that is absent or only inherited', () => {
    expect(() => fillPath({ path: '/a/{x}' }, {})).toThrow(TypeError);
    expect(() => fillPath({ path: '/a/{constructor}' }, {})).toThrow(TypeError);
  });

  it('is undone by matching, whatever the values, and stays one path for an address parser', () => {
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
        expect(matchPath(row.path, path)).toEqual(params);
        expect(new URL(`http://host.test${path}`).pathname).toBe(path);
      },
    );
  });
});

describe('matching a path', () => {
  const template = operations['evidence.bundles.read'].path;

  it('decodes the parameters', () => {
    expect(matchPath('/a/{x}', '/a/sha256%3A0')).toEqual({ x: 'sha256:0' });
  });

  it.each([
    ['an empty parameter', '/v1/projects//evidence/x'],
    ['a segment too many', '/v1/projects/p/evidence/x/'],
    ['a segment too few', '/v1/projects/p/evidence'],
    ['another word', '/v1/projects/p/evidences/x'],
    ['another version', '/v2/projects/p/evidence/x'],
    ['an invalid percent-encoding', '/v1/projects/%zz/evidence/x'],
    ['a percent-encoding that is not UTF-8', '/v1/projects/%ff/evidence/x'],
  ])('refuses %s', (_, path) => {
    expect(matchPath(template, path)).toBeUndefined();
  });

  it('never throws, whatever the path', () => {
    forAll(100, [fc.string({ unit: 'binary' })], (path) => {
      expect(allowedMethods(`/v1/projects/${path}`)).toBeInstanceOf(Array);
    });
  });
});

it.each(operationNames)('the methods of a path include that of %s', (name) => {
  const row = operationRow(name);
  const params = Object.fromEntries(Object.keys(row.params.shape).map((key) => [key, 'x']));
  expect(allowedMethods(fillPath(row, params))).toContain(row.method);
});

it('the methods of a path are GET and HEAD for a read, POST for a change', () => {
  expect(allowedMethods(`/v1/projects/${projectId}/evidence-exports`)).toEqual(['GET', 'HEAD']);
  expect(allowedMethods(`/v1/projects/${projectId}/build-uploads`)).toEqual(['POST']);
});

it('the methods of a path are empty for a path of no operation', () => {
  expect(allowedMethods('/v1/unheard-of')).toEqual([]);
  expect(allowedMethods('')).toEqual([]);
});
