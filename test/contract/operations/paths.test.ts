import { describe, expect, it } from 'vitest';
import { fillPath } from '../../../src/contract/operations/rows.ts';
import { operations } from '../../../src/contract/operations/operations.ts';

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
});
