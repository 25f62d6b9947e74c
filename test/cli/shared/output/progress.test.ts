import { describe, expect, it } from 'vitest';
import { createProgress, type Timer } from '../../../../src/cli/shared/output/progress.ts';
import { recorder, world } from '../../make.ts';
import { terminal } from '../../terminal.ts';

type Over = {
  readonly tty: boolean;
  readonly quiet?: boolean;
  readonly env?: Record<string, string>;
  readonly columns?: number;
};

function watched(over: Over) {
  let nowMs = 0;
  let tick: (() => void) | undefined;
  const timer: Timer = (_everyMs, call) => {
    tick = call;
    return () => (tick = undefined);
  };
  const size = { columns: over.columns ?? 80, rows: 12 };
  const stderr = recorder({ isTTY: over.tty });
  Object.defineProperties(stderr, {
    columns: { get: () => size.columns },
    rows: { get: () => size.rows },
  });
  const cli = { ...world(), stderr, now: () => nowMs, quiet: over.quiet ?? false, env: over.env ?? {} };
  return {
    progress: createProgress(cli, 'verified', 'parts', timer),
    stderr,
    size,
    wait: (ms: number) => (nowMs += ms),
    tick: () => tick?.(),
    ticks: () => tick !== undefined,
    screen: () => terminal(stderr.text(), size),
  };
}
const half = { done: 5, of: 10, bytes: 512, totalBytes: 1024 };
const WHOLE = 'verified 5 of 10 parts  [############------------]  50.0 %  512 bytes of 1.0 KiB';

describe('progress on a terminal', () => {
  it('is drawn at most every 100 ms, in one write each time, and taken away at the end', () => {
    const { progress, stderr, wait, screen, ticks } = watched({ tty: true, columns: 90 });
    progress.update(half);
    progress.update({ ...half, done: 6 });
    expect(screen()).toEqual([WHOLE]);
    wait(100);
    progress.update({ ...half, done: 6 });
    expect(screen()).toEqual([WHOLE.replace('5 of', '6 of')]);
    progress.end();
    expect([screen(), ticks()]).toEqual([[], false]);
    expect(stderr.text().split('\u001B[J')).toHaveLength(3);
  });

  it('has a line for each part under way above that of the whole, with rate and time left', () => {
    const { progress, wait, screen } = watched({ tty: true, columns: 110 });
    progress.update({ ...half, bytes: 0 });
    progress.part('parts/a.zip', { bytes: 0, totalBytes: 1000 });
    progress.part('parts/b.zip', { bytes: 0, totalBytes: 1024 });
    wait(2000);
    progress.update({ ...half, bytes: 200 });
    wait(100);
    progress.part('parts/a.zip', { bytes: 210, totalBytes: 1000 });
    expect(screen()).toEqual([
      '  parts/a.zip                                21.0 %  210 bytes of 1,000 bytes   100 bytes/s          8 s left',
      '  parts/b.zip                                   0.0 %      0 bytes of 1.0 KiB     0 bytes/s',
      'verified 5 of 10 parts  [####--------------------]  19.5 %  200 bytes of 1.0 KiB  95 bytes/s  9 s left',
    ]);
    wait(100);
    progress.part('parts/a.zip', undefined);
    expect(screen()).toHaveLength(2);
  });

  it('scrolls notes away above it, escaped, since they may hold words of a server', () => {
    const { progress, screen, wait } = watched({ tty: true, columns: 90 });
    progress.update(half);
    progress.note('failed: \u001B[2J');
    expect(screen()).toEqual(['failed: \\u{1b}[2J', WHOLE]);
    wait(100);
    progress.update(half);
    progress.note('failed: another');
    expect(screen()).toEqual(['failed: \\u{1b}[2J', 'failed: another', WHOLE]);
    progress.end();
    expect(screen()).toEqual(['failed: \\u{1b}[2J', 'failed: another']);
  });

  it('goes on while nothing comes, so that the rate falls', () => {
    const { progress, screen, wait, tick } = watched({ tty: true, columns: 100 });
    progress.update({ ...half, bytes: 0 });
    wait(1000);
    progress.update(half);
    expect(screen()[0]).toMatch(/512 bytes\/s {2}1 s left$/);
    wait(60_000);
    tick();
    expect(screen()[0]).toMatch(/ 50\.0 % {2}512 bytes of 1\.0 KiB {2}0 bytes\/s$/);
  });

  it('follows a terminal that becomes narrower, which broke what was drawn', () => {
    const { progress, screen, size, wait, tick } = watched({ tty: true, columns: 90 });
    progress.update(half);
    size.columns = 30;
    expect(screen()).toHaveLength(3); // as the terminal breaks it
    wait(250);
    tick();
    expect(screen()).toEqual(['verified 5 of 10 parts']);
  });

  it('draws nothing before something is known', () => {
    const { tick, stderr, wait } = watched({ tty: true });
    wait(1000);
    tick();
    expect(stderr.text()).toBe('');
  });
});

describe('progress elsewhere', () => {
  it.each([
    ['where there is no terminal', { tty: false }],
    ['on a terminal that cannot draw', { tty: true, env: { TERM: 'dumb' } }],
    ['in CI, whose terminals are logs', { tty: true, env: { CI: 'true' } }],
  ])('%s is a plain line after five seconds and every thirty, nothing for what is quick', (_where, over) => {
    const { progress, stderr, wait, tick } = watched(over);
    progress.update({ ...half, bytes: 0 });
    wait(4_999);
    progress.update(half);
    expect(stderr.text()).toBe('');
    wait(1);
    progress.update(half);
    wait(29_999);
    progress.update(half);
    expect(stderr.text()).toBe('verified 5 of 10 parts, 512 bytes of 1.0 KiB, 102 bytes/s, 5 s left\n');
    wait(1);
    tick(); // though nothing comes
    progress.end();
    expect(stderr.text().split('\n')).toHaveLength(3);
    expect(stderr.text()).not.toContain('\u001B');
  });

  it('is drawn where CI is said to be false', () => {
    const { progress, screen } = watched({ tty: true, columns: 90, env: { CI: 'false' } });
    progress.update(half);
    expect(screen()).toEqual([WHOLE]);
  });

  it('tells notes at once, and nothing at all when people want quiet', () => {
    for (const quiet of [false, true]) {
      const { progress, stderr, wait, tick } = watched({ tty: false, quiet });
      progress.note('failed: x');
      progress.update(half);
      wait(60_000);
      progress.update(half);
      tick();
      progress.end();
      expect(stderr.text().split('\n')).toHaveLength(quiet ? 1 : 3);
    }
  });
});
