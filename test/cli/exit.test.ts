import { expect, it } from 'vitest';
import { catalogue, type Code } from '../../src/codes/catalogue.ts';
import { EXIT, exitOfCode, worstExit } from '../../src/cli/exit.ts';
import { exitOfVerdict } from '../../src/report/run.ts';

it.each<readonly [Code, number]>([
  ['part.DIGEST_MISMATCH', EXIT.bad],
  ['zip.TRUNCATED', EXIT.bad],
  ['bundle.MANIFEST_MISSING', EXIT.bad],
  ['trust.KEY_UNKNOWN', EXIT.bad],
  ['json.TOO_LARGE', EXIT.bad],
  ['usage.INVALID', EXIT.usage],
  ['io.NOT_FOUND', EXIT.usage],
  ['io.EXISTS', EXIT.usage],
  ['export.NOT_AN_EXPORT', EXIT.usage],
  ['trust.STORE_EMPTY', EXIT.usage],
  ['trust.KEY_UNSUPPORTED', EXIT.usage],
  ['io.UNREADABLE', EXIT.unchecked],
  ['io.DISK_FULL', EXIT.unchecked],
  ['transport.UNREACHABLE', EXIT.unchecked],
  ['control.UNAUTHENTICATED', EXIT.unchecked],
  ['control.PERMISSION_DENIED', EXIT.unchecked],
  ['internal.BUG', EXIT.unchecked],
])('the exit code of an error of %s is %i', (code, exit) => {
  expect(exitOfCode(code)).toBe(exit);
});

it('the exit code of an error is never "bad" for a failure of server or network, and never 0', () => {
  for (const code of Object.keys(catalogue) as Code[]) {
    const exit = exitOfCode(code);
    expect(exit).not.toBe(EXIT.pass);
    if (code.startsWith('control.') || code.startsWith('transport.')) expect(exit).not.toBe(EXIT.bad);
  }
});

it('the exit code of a verdict is 0 for verified, for intact if it is accepted, and never for the others', () => {
  expect(exitOfVerdict('verified', false)).toBe(0);
  expect(exitOfVerdict('intact', false)).toBe(1);
  expect(exitOfVerdict('intact', true)).toBe(0);
  expect(exitOfVerdict('incomplete', true)).toBe(3);
  expect(exitOfVerdict('failed', true)).toBe(1);
});

it('the exit code of several results is the worst: 1, then 2, then 3; and of no result 3', () => {
  expect(worstExit([0, 3, 1])).toBe(1);
  expect(worstExit([0, 3])).toBe(3);
  expect(worstExit([2, 3])).toBe(2);
  expect(worstExit([0, 0])).toBe(0);
  expect(worstExit([])).toBe(3);
});
