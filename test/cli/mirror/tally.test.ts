import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { followMany, followMirror, MirrorTally } from '../../../src/cli/mirror/progress.ts';
import type { Progress, Whole } from '../../../src/cli/shared/output/progress.ts';
import type { MirrorEvent } from '../../../src/mirror/run.ts';

const FATES = ['kept', 'linked', 'fetched', 'restarted', 'resumed', 'failed'] as const;
type File = { readonly fate: (typeof FATES)[number]; readonly bytes: number; readonly at: number };

/** The events of a mirror about one file. */
function eventsOf({ fate, bytes, at }: File, path: string): readonly MirrorEvent[] {
  const some = Math.min(at, bytes);
  const received = (count: number): MirrorEvent => ({ type: 'bytes', path, received: count, bytes });
  const started: MirrorEvent = { type: 'part-started', path, bytes };
  const type = 'part-done';
  const done = (state: 'linked' | 'fetched' | 'resumed'): MirrorEvent => ({ type, path, bytes, state });
  const again: MirrorEvent = { type: 'retry', path, error: new Error('x'), delayMs: 0 };
  const sequences: Readonly<Record<File['fate'], readonly MirrorEvent[]>> = {
    kept: [],
    linked: [started, done('linked')],
    fetched: [started, received(some), received(bytes), done('fetched')],
    restarted: [started, received(bytes), again, received(some), received(bytes), done('fetched')],
    resumed: [started, { type: 'resumed', path, received: some, bytes }, received(bytes), done('resumed')],
    failed: [started, received(some), { type: 'failed', path, code: 'part.DIGEST_MISMATCH', message: 'x' }],
  };
  return sequences[fate];
}

const files = fc.array(fc.record({ fate: fc.constantFrom(...FATES), bytes: fc.nat(1e6), at: fc.nat(1e6) }), {
  maxLength: 12,
});
const sum = (list: readonly File[]): number => list.reduce((total, { bytes }) => total + bytes, 0);

function planOf(list: readonly File[]): MirrorEvent {
  const missing = list.filter(({ fate }) => fate !== 'kept');
  const [bytes, missingBytes] = [sum(list), sum(missing)];
  return { type: 'planned', files: list.length, bytes, missingFiles: missing.length, missingBytes };
}

/** The events of all files, interleaved in an order that follows from a list of numbers. */
function* interleaved(list: readonly File[], order: readonly number[]): Generator<MirrorEvent> {
  const sequences = list.map((file, i) => [...eventsOf(file, `parts/${i}.zip`)]);
  for (let step = 0; sequences.some(({ length }) => length > 0); step++) {
    const active = sequences.filter(({ length }) => length > 0);
    const next = active[(order[step % Math.max(1, order.length)] ?? 0) % active.length]?.shift();
    if (next !== undefined) yield next;
  }
}

it('the tally of a mirror never exceeds the total, and ends with the right counts in every order of events', () => {
  fc.assert(
    fc.property(files, fc.array(fc.nat(100), { maxLength: 60 }), (list, order) => {
      const tally = new MirrorTally();
      tally.take(planOf(list), 0);
      for (const [i, file] of list.entries())
        if (file.fate === 'kept')
          tally.take({ type: 'part-done', path: `parts/${i}.zip`, bytes: file.bytes, state: 'kept' }, 0);
      let moved = 0;
      for (const event of interleaved(list, order)) {
        tally.take(event, 1000);
        expect(tally.bytes).toBeGreaterThanOrEqual(0);
        expect(tally.bytes).toBeLessThanOrEqual(tally.totalBytes);
        expect(tally.moved).toBeGreaterThanOrEqual(moved);
        ({ moved } = tally);
      }
      const failed = list.filter(({ fate }) => fate === 'failed');
      const times = (...fates: readonly File['fate'][]) =>
        list.filter(({ fate }) => fates.includes(fate)).length;
      expect(tally.provenBytes).toBe(tally.bytes);
      expect(tally.bytes).toBe(sum(list) - sum(failed));
      expect([tally.done, tally.failed]).toEqual([list.length - failed.length, failed.length]);
      expect(tally.states).toEqual({
        kept: times('kept'),
        linked: times('linked'),
        fetched: times('fetched', 'restarted'),
        resumed: times('resumed'),
      });
    }),
  );
});

/** A progress that records its calls. */
function recordProgress() {
  const notes: string[] = [];
  const phases: string[] = [];
  let whole: Whole = { done: 0, of: 0 };
  const progress: Progress = {
    update: (state) => void (whole = state),
    phase: (verb) => void phases.push(verb),
    note: (line) => void notes.push(line),
    end() {},
  };
  return { progress, notes, phases, whole: () => whole };
}

it('progress of one mirror shows the check of existing files, then the transfer, and notes about retries and failures', () => {
  const { progress, notes, phases, whole } = recordProgress();
  const tally = new MirrorTally();
  const notify = followMirror(progress, tally, () => 0);
  notify({ type: 'listed', files: 2, bytes: 2000 });
  notify({ type: 'looked', path: 'a', bytes: 1000, found: 'proven' });
  notify({ type: 'looked', path: 'b', bytes: 1000, found: 'missing' });
  expect(whole()).toEqual({ done: 2, of: 2, bytes: 2000, totalBytes: 2000 });
  notify({ type: 'planned', files: 2, bytes: 2000, missingFiles: 1, missingBytes: 1000 });
  notify({ type: 'part-started', path: 'b', bytes: 1000 });
  notify({ type: 'bytes', path: 'b', received: 400, bytes: 1000 });
  expect(tally.provenBytes).toBe(1000);
  expect(whole()).toEqual({ done: 1, of: 2, bytes: 1400, totalBytes: 2000 });
  notify({ type: 'retry', path: 'b', error: new Error('b is not what it was'), delayMs: 0 });
  notify({ type: 'failed', path: 'b', code: 'part.DIGEST_MISMATCH', message: 'another digest' });
  expect(phases).toEqual(['checked', 'mirrored']);
  expect(notes).toEqual([
    'again in 0.1 s: b is not what it was',
    'failed: part.DIGEST_MISMATCH: b: another digest',
  ]);
});

it('progress of one mirror names ten files that fail, and notes once that there are more', () => {
  const { progress, notes } = recordProgress();
  const notify = followMirror(progress, new MirrorTally(), () => 0);
  for (let n = 0; n < 50; n++)
    notify({ type: 'failed', path: `f${n}`, code: 'transport.UNREACHABLE', message: 'the server is away' });
  expect(notes).toHaveLength(11);
  expect([notes[9], notes[10]].map((note) => note?.includes('f9'))).toEqual([true, false]);
});

it('progress of many mirrors counts finished mirrors and all received bytes, without a total that is not known', () => {
  const { progress, whole, notes } = recordProgress();
  const totals = new MirrorTally();
  const many = followMany(progress, 3, totals, () => 0);
  const notifyFirst = many.begin('one', new MirrorTally());
  const notifySecond = many.begin('two', new MirrorTally());
  notifyFirst({ type: 'planned', files: 1, bytes: 1000, missingFiles: 1, missingBytes: 1000 });
  notifyFirst({ type: 'part-started', path: 'a', bytes: 1000 });
  notifyFirst({ type: 'bytes', path: 'a', received: 600, bytes: 1000 });
  expect(whole()).toEqual({ done: 0, of: 3, bytes: 600 });
  notifySecond({ type: 'waiting', state: 'generating', completed: 1, of: 2, delayMs: 1000 });
  expect(notes).toEqual(['two: generating, 1 of 2 bundles; looking again in 1 s']);
  many.end('two');
  notifyFirst({ type: 'part-done', path: 'a', bytes: 1000, state: 'fetched' });
  many.end('one');
  expect(whole()).toEqual({ done: 2, of: 3, bytes: 1000 });
  expect([totals.files, totals.states.fetched]).toEqual([1, 1]);
});
