import { describe, expect, it } from 'vitest';
import { createProgress } from '../../src/cli/progress.ts';
import { recorder, world } from './make.ts';

function watched(over: {
  readonly tty: boolean;
  readonly quiet?: boolean;
  readonly env?: Record<string, string>;
}) {
  let nowMs = 0;
  const stderr = recorder({ isTTY: over.tty, columns: 60 });
  const cli = { ...world(), stderr, now: () => nowMs, quiet: over.quiet ?? false, env: over.env ?? {} };
  return { progress: createProgress(cli, 'verified', 'parts'), stderr, wait: (ms: number) => (nowMs += ms) };
}
const half = { done: 5, of: 10, bytes: 512, totalBytes: 1024 };

describe('progress', () => {
  it('is a bar on a terminal, redrawn at most every 100 ms, never wider than the terminal, gone at the end', () => {
    const { progress, stderr, wait } = watched({ tty: true });
    progress.update(half);
    progress.update(half);
    wait(100);
    progress.update({ ...half, done: 1_000_000_000 });
    progress.end();
    const drawn = stderr.text().split('\r\u001B[K').slice(1);
    expect(drawn).toHaveLength(3);
    expect(drawn[0]).toBe(
      '[############------------] verified 5 of 10 parts, 512 bytes of 1.0 KiB'.slice(0, 59),
    );
    for (const line of drawn) expect(line.length).toBeLessThan(60);
    expect(drawn[2]).toBe('');
  });

  it('is a plain line every five seconds elsewhere, and nothing for what is quick', () => {
    const { progress, stderr, wait } = watched({ tty: false });
    progress.update(half);
    wait(4_999);
    progress.update(half);
    expect(stderr.text()).toBe('');
    wait(1);
    progress.update(half);
    progress.update(half);
    progress.end();
    expect(stderr.text()).toBe('verified 5 of 10 parts, 512 bytes of 1.0 KiB\n');
  });

  it('is plain on a terminal that cannot draw', () => {
    const { progress, stderr } = watched({ tty: true, env: { TERM: 'dumb' } });
    progress.update(half);
    progress.end();
    expect(stderr.text()).not.toContain('\u001B');
  });

  it('is nothing at all when people want quiet', () => {
    const { progress, stderr, wait } = watched({ tty: true, quiet: true });
    wait(60_000);
    progress.update(half);
    progress.note('failed: x');
    progress.end();
    expect(stderr.text()).toBe('');
  });

  it('escapes notes, which may hold words of a server', () => {
    const { progress, stderr } = watched({ tty: false });
    progress.note('failed: \u001B[2J');
    expect(stderr.text()).toBe('failed: \\u{1b}[2J\n');
  });
});
