import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import type { LogFile } from '../../src/mirror/inventory.ts';
import {
  compareEntry,
  type JournalEntry,
  journalLines,
  NEVER,
  openJournal,
  readJournal,
} from '../../src/scrub/journal.ts';
import { forAll } from '../support/property.ts';

const NOW = 1_790_000_000_000;
const entry = (mirror: string, rest: Partial<JournalEntry> = {}): JournalEntry => ({
  mirror,
  stamp: 's',
  policy: 'p',
  readAtMs: NOW - 1_000,
  files: 14,
  bytes: 1_000,
  ...rest,
});
const join = (...all: Uint8Array[]): Uint8Array => Buffer.concat(all);
const namesIn = (bytes: Uint8Array) => [...readJournal(bytes).keys()];

const rows = fc.array(
  fc.record({
    mirror: fc.constantFrom('a', 'b', 'evexp_0123456789ab'),
    stamp: fc.string(),
    policy: fc.string(),
    readAtMs: fc.integer({ min: 0, max: NOW }),
    files: fc.nat(),
    bytes: fc.nat(),
    bad: fc.array(fc.string({ unit: 'grapheme' })),
  }),
  { maxLength: 12 },
);

/** A log in memory, which counts its updates. */
function memoryLog(
  content: Uint8Array = new Uint8Array(),
): LogFile & { updates: number; content: Uint8Array } {
  return {
    content,
    updates: 0,
    async read() {
      return this.content;
    },
    async update(change) {
      this.updates++;
      this.content = change(this.content);
    },
  };
}

describe('a journal', () => {
  test('returns the last entry of each mirror', () => {
    forAll(100, [rows], (all) => {
      expect(readJournal(journalLines(all))).toEqual(new Map(all.map((row) => [row.mirror, row])));
    });
  });

  test('never throws and never returns an entry that was not written, whatever the bytes', () => {
    forAll(100, [fc.uint8Array({ maxLength: 300 })], (bytes) => {
      expect(readJournal(bytes).size).toBe(0);
    });
  });

  test('returns no entry that was not written if bytes are changed, cut or added', () => {
    forAll(
      100,
      [rows, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 5 }), fc.nat(5)],
      (all, at, put, cut) => {
        const whole = journalLines(all);
        const from = at % (whole.length + 1);
        const written = new Set(all.map((row) => canonicalJson(row)));
        const spoiled = join(whole.subarray(0, from), put, whole.subarray(from + cut));
        for (const row of readJournal(spoiled).values()) expect(written).toContain(canonicalJson(row));
      },
    );
  });

  test('ignores a line without its end, and every line before an invalid one', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => journalLines([entry(name)])) as [Buffer, Buffer, Buffer];
    expect(namesIn(join(a, b.subarray(0, -1)))).toEqual(['a']);
    expect(namesIn(join(a, toUtf8('{}\n'), b, c))).toEqual(['b', 'c']);
  });

  test('is written in batches, and without the line that a dead process left', async () => {
    const log = memoryLog(join(journalLines([entry('a')]), toUtf8('{"mirror"')));
    const journal = openJournal(log);
    for (let n = 0; n < 9; n++) await journal.save(entry(`mirror-${n}`));
    expect([log.updates, namesIn(log.content).length]).toEqual([1, 6]); // after 5 mirrors of 14 files
    await journal.flush();
    expect([log.updates, namesIn(log.content).length]).toEqual([2, 10]);
    const slow = openJournal(log, 60_000);
    for (let n = 0; n < 9; n++) await slow.save(entry(`mirror-${n}`));
    expect(log.updates).toBe(2);
  });

  test('that is much longer than its entries is written anew before it is used', async () => {
    const line = journalLines([entry('a')]);
    const short = memoryLog(join(...Array.from({ length: 100 }, () => line)));
    const long = memoryLog(join(...Array.from({ length: 1_000 }, () => line)));
    for (const log of [short, long]) expect(await openJournal(log).find('a')).toEqual(entry('a'));
    expect([short.content.length, long.content.length]).toEqual([line.length * 100, line.length]);
  });
});

describe('an entry', () => {
  const how = { policy: 'p', now: () => NOW };
  test.each<[string, Partial<JournalEntry>, number]>([
    ['of the same mirror', {}, NOW - 1_000],
    ['of another stamp', { stamp: 'other' }, NOW - 1_000],
    ['of a mirror without a stamp', { stamp: '' }, NOW - 1_000],
    ['of another policy', { policy: 'other' }, NOW - 1_000],
    ['of this millisecond', { readAtMs: NOW }, NOW],
    ['of the future', { readAtMs: NOW + 1 }, NOW + 1],
  ])('%s counts only if it is the right one', (title, change, atMs) => {
    const counts = title === 'of the same mirror' || title === 'of this millisecond';
    const known = compareEntry(entry('a', change), 's', how);
    expect(known.atMs).toBe(counts ? atMs : NEVER);
    expect(compareEntry(entry('a', { ...change, stamp: '' }), '', how).atMs).toBe(NEVER);
  });

  test('continues a stopped reading, but not one that began in the future', () => {
    for (const [startedAtMs, done] of [
      [NOW, 3],
      [NOW + 1, 0],
    ] as const) {
      const stopped = entry('a', { pass: { startedAtMs, done: 3 } });
      expect(compareEntry(stopped, 's', how).done).toBe(done);
    }
  });
});
