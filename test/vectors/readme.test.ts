import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COUNTS } from './counts.ts';

const page = readFileSync('vectors/README.md', 'utf8');
const program = /^```python check\.py\n([\s\S]*?)\n```$/m.exec(page)?.[1] ?? '';

const run = (text: string) => spawnSync('python3', ['-c', text], { encoding: 'utf8' });

it('the Python example of vectors/README.md runs unchanged and passes all its cases', () => {
  expect(run(program)).toMatchObject({
    status: 0,
    stdout: `hex ${COUNTS['hex']} cases hold\nbase64url ${COUNTS['base64url']} cases hold\n`,
  });
});

it.each([
  ['spare bits', 'if base64.urlsafe_b64encode(data)', 'if False and base64.urlsafe_b64encode(data)'],
  ['letter case', '[0-9a-f]{2}', '[0-9a-fA-F]{2}'],
  ['a line feed at the end', 'fullmatch(r"(?:[0-9a-f]{2})*"', 'match(r"(?:[0-9a-f]{2})*$"'],
])('the Python example of vectors/README.md fails when it ignores %s', (_, sound, broken) => {
  expect(program).toContain(sound);
  expect(run(program.replace(sound, broken)).status).toBe(1);
});
