import { describe, expect, it } from 'vitest';
import { createProgress } from '../../../../src/cli/shared/output/progress.ts';
import { recorder, world } from '../../make.ts';
import { renderTerminal } from '../../terminal.ts';

type Options = {
  readonly tty: boolean;
  readonly quiet?: boolean;
  readonly env?: Record<string, string>;
  readonly columns?: number;
};

function watchProgress(options: Options) {
  let nowMs = 0;
  const size = { columns: options.columns ?? 80, rows: 12 };
  const stderr = recorder({ isTTY: options.tty });
  Object.defineProperties(stderr, { columns: { get: () => size.columns }, rows: { get: () => size.rows } });
  const cli = { ...world(), stderr, now: () => nowMs, quiet: options.quiet ?? false, env: options.env ?? {} };
  return {
    progress: createProgress(cli, 'verified', 'parts'),
    stderr,
    wait: (ms: number) => (nowMs += ms),
    screen: () => renderTerminal(stderr.text(), size),
  };
}
const half = { done: 5, of: 10, bytes: 512, totalBytes: 1024 };
const LINE = 'verified 5 of 10 parts, 512 bytes of 1.0 KiB, 50.0 %';

describe('progress on a terminal', () => {
  it('is one line, drawn at most every 100 ms and removed at the end', () => {
    const { progress, wait, screen } = watchProgress({ tty: true });
    progress.update(half);
    wait(99);
    progress.update({ ...half, done: 6 });
    expect(screen()).toEqual([LINE]);
    wait(1);
    progress.update({ ...half, done: 6 });
    expect(screen()).toEqual([LINE.replace('5 of', '6 of')]);
    progress.end();
    expect(screen()).toEqual([]);
  });

  it.each([
    [{ done: 1, of: 2 }, 'verified 1 of 2 parts'],
    [{ done: 1, of: 2, bytes: 512 }, 'verified 1 of 2 parts, 512 bytes'],
    [{ done: 0, of: 0, bytes: 0, totalBytes: 0 }, 'verified 0 of 0 parts, 0 bytes of 0 bytes'],
  ])('prints only the known numbers of %j', (whole, line) => {
    const { progress, screen } = watchProgress({ tty: true });
    progress.update(whole);
    expect(screen()).toEqual([line]);
  });

  it('prints notes above the line, with unsafe characters escaped', () => {
    const { progress, screen, stderr } = watchProgress({ tty: true });
    progress.note('failed: a');
    progress.update(half);
    progress.note('failed: \u001B[2Jb');
    const [first, second, third] = screen();
    expect([first, third]).toEqual(['failed: a', LINE]);
    expect(second).toMatch(/^failed: .*\[2Jb$/);
    expect(stderr.text()).not.toContain('\u001B[2J');
  });

  it('fits one line of a narrow terminal, with the last column empty', () => {
    const { progress, screen } = watchProgress({ tty: true, columns: 12 });
    progress.update(half);
    expect(screen()).toEqual(['verified 5…']);
  });

  it('names the step that a phase starts', () => {
    const { progress, screen } = watchProgress({ tty: true });
    progress.phase('checked');
    progress.update({ done: 1, of: 2 });
    expect(screen()).toEqual(['checked 1 of 2 parts']);
  });

  it('draws nothing before the first update', () => {
    const { progress, stderr } = watchProgress({ tty: true });
    progress.end();
    expect(stderr.text()).toBe('');
  });
});

it.each([
  ['to a stderr that is not a terminal', { tty: false }],
  ['on a terminal that cannot redraw', { tty: true, env: { TERM: 'dumb' } }],
  ['in CI', { tty: true, env: { CI: 'true' } }],
])('progress %s is a plain line after five seconds and then every thirty', (_, options) => {
  const { progress, stderr, wait } = watchProgress(options);
  progress.update({ ...half, done: 0, bytes: 0 });
  wait(4_999);
  progress.update(half);
  expect(stderr.text()).toBe('');
  wait(1);
  progress.update(half);
  wait(29_999);
  progress.update(half);
  expect(stderr.text()).toBe(`${LINE}, 1.0/s, 5 s left\n`);
  wait(1);
  progress.update(half);
  progress.end();
  expect(stderr.text()).toBe(`${LINE}, 1.0/s, 5 s left\n${LINE}, 0.1/s, 35 s left\n`);
});

it('progress is drawn on a terminal where CI is false', () => {
  const { progress, screen } = watchProgress({ tty: true, env: { CI: 'false' } });
  progress.update(half);
  expect(screen()).toEqual([LINE]);
});

it('progress prints notes at once, and nothing with --quiet', () => {
  for (const quiet of [false, true]) {
    const { progress, stderr, wait } = watchProgress({ tty: false, quiet });
    progress.note('failed: x');
    wait(60_000);
    progress.update(half);
    progress.end();
    expect(stderr.text()).toBe(quiet ? '' : `failed: x\n${LINE}\n`);
  }
});
