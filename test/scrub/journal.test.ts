import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { fromUtf8, toUtf8 } from '../../src/bytes/text/encoding.ts';
import {
  journalLines,
  findOldest,
  readJournal,
  selectDueFiles,
  checkDue,
  type JournalEntry,
} from '../../src/scrub/journal.ts';
import { forAll } from '../support/property.ts';

const NOW = 1_790_000_000_000;
const POLICY = digestOf(toUtf8('policy'));
const OTHER = digestOf(toUtf8('other policy'));

const entry = (path: string, rest: Partial<JournalEntry> = {}): JournalEntry => ({
  path,
  identity: '1:2:3',
  atMs: NOW - 1_000,
  state: 'good',
  ...rest,
});
const read = (bytes: Uint8Array) => readJournal(bytes, POLICY, NOW);
const join = (...all: Uint8Array[]): Uint8Array => Buffer.concat(all);

const entries = fc.array(
  fc.record({
    path: fc.constantFrom('a', 'b', 'parts/c.zip'),
    identity: fc.string(),
    atMs: fc.integer({ min: 0, max: NOW }),
    state: fc.constantFrom('good' as const, 'bad' as const),
  }),
  { maxLength: 12 },
);

describe('a journal', () => {
  test('returns the last entry of each path', () => {
    forAll(100, [entries], (rows) => {
      const { entries: last, worn } = read(journalLines(POLICY, rows));
      expect(last).toEqual(new Map(rows.map((row) => [row.path, row])));
      expect(worn).toBe(false);
    });
  });

  test('never throws and never returns an entry that was not written, whatever the bytes', () => {
    forAll(100, [fc.uint8Array({ maxLength: 300 })], (bytes) => {
      expect(read(bytes).entries.size).toBe(0);
    });
  });

  test('returns no entry that was not written if bytes are changed, cut or added', () => {
    forAll(
      100,
      [entries, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 5 }), fc.nat(5)],
      (rows, at, put, cut) => {
        const whole = journalLines(POLICY, rows);
        const from = at % (whole.length + 1);
        const spoilt = join(whole.subarray(0, from), put, whole.subarray(from + cut));
        for (const row of read(spoilt).entries.values()) expect(rows).toContainEqual(row);
      },
    );
  });

  test('that ends within a line returns the lines before it', () => {
    const [first, second] = [journalLines(POLICY, [entry('a')]), journalLines(POLICY, [entry('b')])];
    for (let end = 0; end < second.length; end++) {
      const journal = read(join(first, second.subarray(0, end)));
      expect([...journal.entries.keys()]).toEqual(['a']);
      expect(journal.worn).toBe(end > 0);
    }
  });

  test('returns no entry from before an invalid line, which may have reported a bad file', () => {
    const broken = toUtf8('{"path":"a"}\n');
    const lines = [journalLines(POLICY, [entry('a')]), broken, journalLines(POLICY, [entry('b')])];
    const journal = read(join(...lines));
    expect([[...journal.entries.keys()], journal.worn]).toEqual([['b'], true]);
  });

  test('ignores entries of another policy, and those that they replaced', () => {
    const lines = [journalLines(POLICY, [entry('a')]), journalLines(OTHER, [entry('a'), entry('b')])];
    expect(read(join(...lines)).entries.size).toBe(0);
  });

  test('ignores entries of the future', () => {
    expect(read(journalLines(POLICY, [entry('a', { atMs: NOW + 1 })])).entries.size).toBe(0);
    expect(read(journalLines(POLICY, [entry('a', { atMs: NOW })])).entries.size).toBe(1);
  });

  test('refuses a line with the checksum of another line', () => {
    const text = fromUtf8(journalLines(POLICY, [entry('a', { state: 'bad' })]));
    expect(read(toUtf8(text.replace('"bad"', '"good"'))).entries.size).toBe(0);
  });

  test('is worn if it has many more lines than paths', () => {
    const line = journalLines(POLICY, [entry('a')]);
    expect(read(join(...Array<Uint8Array>(4_097).fill(line))).worn).toBe(false);
    expect(read(join(...Array<Uint8Array>(4_098).fill(line))).worn).toBe(true);
  });
});

const file = (path: string, identity = '1:2:3') => ({ path, bytes: 1, regular: true, identity });

const isDue = (last: JournalEntry | undefined, current = file('a'), olderThanMs = 1_000): boolean =>
  checkDue(last, current, NOW, { olderThanMs }).due;

test('a file is due unless the same file was good within the requested age', () => {
  expect(isDue(entry('a', { atMs: NOW - 999 }))).toBe(false);
  expect(isDue(entry('a', { atMs: NOW - 1_000 }))).toBe(true);
  expect(isDue(entry('a', { atMs: NOW, state: 'bad' }))).toBe(true);
  expect(isDue(entry('a', { atMs: NOW }), file('a', '1:2:4'))).toBe(true);
  expect(isDue(undefined)).toBe(true);
  expect(isDue(entry('a', { atMs: NOW }), file('a'), 0)).toBe(true);
});

test('a mirror is due if a file is due, a file is missing, or it has no files', () => {
  const journal = new Map(['a', 'b'].map((path) => [path, entry(path)]));
  const how = { olderThanMs: 10_000 };
  expect(selectDueFiles([file('a'), file('b')], journal, NOW, how).isDue).toBe(false);
  expect(selectDueFiles([file('a')], journal, NOW, how).isDue).toBe(true);
  expect(selectDueFiles([], new Map(), NOW, how).isDue).toBe(true);
});

test('a file is due first if it was never read', () => {
  expect(findOldest([file('a'), file('b')], new Map([['a', entry('a')]]))).toBe(-Infinity);
  expect(findOldest([file('a')], new Map([['a', entry('a', { atMs: 5 })]]))).toBe(5);
});
