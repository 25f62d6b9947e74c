import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { controlErrors } from '../../src/contract/operations/errors.ts';
import { operationNames, operationRow } from '../../src/contract/operations/operations.ts';

/** The rows of every table of the page, as their cells. */
const rows = readFileSync('docs/server/control-api.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map((cells) => cells.slice(1, -1));

it.each(operationNames)('docs/server/control-api.md describes %s as the operation table does', (name) => {
  const { method, path, permission, success, extension } = operationRow(name);
  const short = path.replace('/v1/projects/{projectId}', '{p}');
  const row = rows.find(([first]) => first === `\`${name}\``);
  expect(row?.[1]).toBe(`${method} \`${short}\``);
  if (extension) return; // one sentence states the permission of all extensions
  expect(row?.[2]).toBe(`\`${permission}\``);
  expect(row?.[3]?.startsWith(String(success.status))).toBe(true);
});

it('docs/server/control-api.md lists every error code with its status and retry rule', () => {
  const stated = rows
    .filter(([status = '']) => /^[45]\d\d$/.test(status))
    .flatMap(([status, codes = '', retryable]) =>
      Array.from(codes.matchAll(/`(control\.[A-Z_]+)`/g), ([, code = '']) => [
        code,
        { status: Number(status), retryable: retryable === 'yes' },
      ]),
    );
  expect(Object.fromEntries(stated)).toEqual(controlErrors);
  expect(stated).toHaveLength(Object.keys(controlErrors).length);
});
