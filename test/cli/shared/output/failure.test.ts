import { describe, expect, it } from 'vitest';
import {
  formatFailureJson,
  describeFailure,
  formatFailureText,
} from '../../../../src/cli/shared/output/failure.ts';
import { DrillproofError, TransportError } from '../../../../src/errors.ts';

const format = (error: unknown, interrupted = false) =>
  formatFailureText(describeFailure(error, interrupted));

describe('a failure', () => {
  it('has one line with the code and one with the advice', () => {
    expect(format(new DrillproofError('io.EXISTS', 'x exists'))).toMatch(
      /^drillproof: io\.EXISTS: x exists\n {2}Choose another.*\n$/,
    );
  });

  it.each([
    ['open', 'ENOENT', 'io.NOT_FOUND', 'cannot read x'],
    ['read', 'EIO', 'io.UNREADABLE', 'cannot read x'],
    ['write', 'ENOSPC', 'io.DISK_FULL', 'cannot write x'],
    ['mkdir', 'EROFS', 'io.READ_ONLY', 'cannot write x'],
    ['rename', 'EACCES', 'io.READ_ONLY', 'cannot write x'],
  ])(
    'of the system call %s with %s has the code %s and names the action',
    (syscall, code, expected, words) => {
      const failure = describeFailure(Object.assign(new Error(code), { syscall, code, path: 'x' }), false);
      expect([failure.code, failure.message]).toEqual([expected, expect.stringContaining(words) as string]);
    },
  );

  it.each(['ftp://u:S3CRET@h/x', 'https:/u:S3CRET@h', 'https://S3CRET@h'])('hides the user of %s', (path) => {
    const message = `cannot read ${path}`;
    const failure = describeFailure(new DrillproofError('io.NOT_FOUND', message, { path }), false);
    expect(formatFailureText(failure) + formatFailureJson(failure)).not.toContain('S3CRET');
  });

  it('names its path unless the message names it', () => {
    expect(format(new DrillproofError('io.EXISTS', 'it exists', { path: 'a/b' }))).toContain(
      'it exists (a/b)',
    );
    expect(format(new DrillproofError('io.EXISTS', 'a/b exists', { path: 'a/b' }))).not.toContain('(a/b)');
  });

  it('lists at most ten of its issues', () => {
    const issues = Array.from({ length: 12 }, (_, i) => ({ path: `/p${i}`, message: `rule ${i} is broken` }));
    const text = format(new DrillproofError('pack.INPUT_INVALID', 'broken', { details: { issues } }));
    expect(text).toContain('  - /p0: rule 0 is broken\n');
    expect(text).toContain('and 2 more');
    expect(text).not.toContain('/p10');
  });

  it('lists the files that a mirror could not fetch, with their codes', () => {
    const failures = [
      { path: 'parts/a.zip', code: 'transport.TIMEOUT', message: 'no byte came' },
      { path: 'parts/b.zip', code: 'part.DIGEST_MISMATCH', message: 'other bytes' },
    ];
    const error = new DrillproofError('mirror.SOURCE_INCOMPLETE', 'two missing', { details: { failures } });
    expect(format(error)).toContain('  - parts/a.zip: transport.TIMEOUT: no byte came\n');
  });

  it('escapes control characters in every member', () => {
    const evil = '\u001B]0;owned\u0007\r\n\u009B31m\u202E';
    const issue = { path: evil, message: evil };
    const details = { issues: [issue, issue], correlationId: evil };
    const text = format(new DrillproofError('io.EXISTS', evil, { path: `${evil}x`, details }));
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cf}\p{Cc}]/u);
    expect(text.split('\n')).toHaveLength(5);
  });

  it('has the correlation id, the waiting time and the errno of a connection', () => {
    const details = { retryAfterMs: 1e12, correlationId: 'corr_1' };
    const limited = format(new DrillproofError('control.RATE_LIMITED', 'm', { details }));
    expect(limited).toContain('m (it asks to wait 11574 d 1 h, correlation id corr_1)');
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const cause = new TypeError('fetch failed', { cause: refused });
    const unreachable = format(new TransportError('transport.UNREACHABLE', 'no answer', { cause }));
    expect(unreachable).toContain('no answer (ECONNREFUSED)');
  });

  it('a system error has its code, and an internal error is internal.BUG without a stack', () => {
    const system = Object.assign(new Error('EACCES: no'), { code: 'EACCES', syscall: 'open', path: '/x' });
    expect(describeFailure(system, false)).toMatchObject({ code: 'io.UNREADABLE', exit: 3 });
    const bug = describeFailure(new RangeError('index'), false);
    expect(bug).toMatchObject({ code: 'internal.BUG', exit: 3 });
    expect(formatFailureText(bug)).not.toMatch(/\n\s+at /);
    expect(describeFailure('a string', false).message).toBe('a string');
  });

  it('after an interruption is transport.ABORTED for every error', () => {
    expect(describeFailure(new RangeError('index'), true)).toMatchObject({
      code: 'transport.ABORTED',
      exit: 130,
    });
  });

  it('is one JSON object for programs', () => {
    const failure = describeFailure(
      new DrillproofError('io.EXISTS', 'x', { path: 'p', details: { hint: 'do this', n: 1 } }),
      false,
    );
    expect(JSON.parse(formatFailureJson(failure))).toEqual({
      schemaVersion: 1,
      kind: 'error',
      code: 'io.EXISTS',
      class: 'usage',
      message: 'x',
      path: 'p',
      action: 'do this',
      details: { n: 1 },
      exitCode: 2,
    });
  });
});
