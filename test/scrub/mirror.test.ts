import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memorySource, type EvidenceSource, type SourceFile } from '../../src/evidence/index.ts';
import {
  scrubMany,
  scrubMirror,
  type MirrorScrub,
  type ScrubOptions,
  type ScrubPlace,
  type ScrubView,
} from '../../src/scrub/index.ts';
import { DrillproofError } from '../../src/errors.ts';
import { faultyAccess, flipped, makeExport, NOW } from '../support/evidence.ts';
import { forAllAsync } from '../support/property.ts';

const PART = 'parts/evidence_000000000001.zip';
const OPTIONS: ScrubOptions = { tool: 'test', now: () => NOW };

const made = await makeExport();

type Files = Readonly<Record<string, Uint8Array>>;

/** A look at files in memory, each under an identity of its own. */
async function view(files: Files, identity: string, source = memorySource(files)): Promise<ScrubView> {
  const listed = (await source.files()).map((file): [string, SourceFile] => [
    file.path,
    { ...file, identity },
  ]);
  return { source, files: new Map(listed), unfinished: false };
}

/** A place that is another one at each look, and then stays; its journal is in memory. */
function placeOf(...views: readonly Promise<ScrubView>[]): ScrubPlace & { readonly looks: () => number } {
  let kept = Buffer.alloc(0);
  let looks = 0;
  return {
    name: 'evexp_000000000001',
    place: 'memory',
    journal: {
      read: () => Promise.resolve(kept),
      append: async (lines) => void (kept = Buffer.concat([kept, lines])),
      replace: async (content) => void (kept = Buffer.from(content)),
    },
    look: () => views[Math.min(looks++, views.length - 1)]!,
    sink: () => Promise.reject(new Error('nothing is written')),
    close: () => Promise.resolve(),
    looks: () => looks,
  };
}

const rotten = (path = PART): Files => ({ ...made.files, [path]: flipped(made.files[path]!, 200) });
const codes = ({ faults }: MirrorScrub): string[] => faults.map(({ code }) => code);

describe('a scrub of a place that changes meanwhile', () => {
  test('reads a file again that was replaced while it was read', async () => {
    const place = placeOf(view(rotten(), 'a'), view(made.files, 'b'));
    const result = await scrubMirror(place, OPTIONS);
    expect([result.outcome, codes(result)]).toEqual(['good', []]);
  });

  test('reports damage of a file that is the same before and after', async () => {
    const place = placeOf(view(rotten(), 'a'));
    expect(codes(await scrubMirror(place, OPTIONS))).toEqual(['part.DIGEST_MISMATCH']);
  });

  test('ends although the files never stop changing', async () => {
    const views = Array.from({ length: 50 }, (_, i) => view(rotten(), String(i)));
    const place = placeOf(...views);
    expect(codes(await scrubMirror(place, OPTIONS))).toEqual(['part.DIGEST_MISMATCH']);
    expect(place.looks()).toBeLessThan(10);
  });

  test('reads changed documents again too', async () => {
    const place = placeOf(view(rotten('manifest.json'), 'a'), view(made.files, 'b'));
    expect((await scrubMirror(place, OPTIONS)).outcome).toBe('good');
  });
});

/** The export with a part of which no byte can be read. */
function failing(code: 'io.UNREADABLE' | 'io.CHANGED'): EvidenceSource {
  const source = memorySource(made.files);
  const broken = () => ({ ...faultyAccess(made.files[PART]!, 0, code), close: () => Promise.resolve() });
  return { ...source, open: async (path) => (path === PART ? broken() : source.open(path)) };
}

describe('a scrub of unreadable files', () => {
  test.each(['io.UNREADABLE', 'io.CHANGED'] as const)(
    'leaves it open, and is no damage: %s',
    async (code) => {
      const result = await scrubMirror(placeOf(view(made.files, 'a', failing(code))), OPTIONS);
      expect([result.outcome, codes(result)]).toEqual(['unreadable', [code]]);
      expect(result.faults[0]!.found).toBe('unreadable');
    },
  );

  test('reports damage elsewhere as the outcome', async () => {
    const source = failing('io.UNREADABLE');
    const other = 'parts/evidence_000000000002.zip';
    const bad = memorySource(rotten(other));
    const both = { ...source, open: (path: string) => (path === other ? bad : source).open(path) };
    const result = await scrubMirror(placeOf(view(made.files, 'a', both)), OPTIONS);
    expect([result.outcome, codes(result)]).toEqual(['damaged', ['io.UNREADABLE', 'part.DIGEST_MISMATCH']]);
  });

  test('of one mirror reads the others', async () => {
    const gone = placeOf(Promise.reject(new DrillproofError('io.UNREADABLE', 'no')));
    const here = placeOf(view(made.files, 'a'));
    const told: string[] = [];
    const archive = { mirrors: ['gone', 'here'], open: (name: string) => (name === 'gone' ? gone : here) };
    await scrubMany(archive, OPTIONS, async ({ outcome }) => void told.push(outcome));
    expect(told).toEqual(['unreadable', 'good']);
  });

  test('throws an error that is not an error of reading', async () => {
    const place = placeOf(Promise.reject(new RangeError('a bug')));
    await expect(scrubMirror(place, OPTIONS)).rejects.toThrow(RangeError);
  });
});

/** The journal that a scrub of the sound export left so long ago. */
async function journalOf(agoMs: number): Promise<Uint8Array> {
  const place = placeOf(view(made.files, 'a'));
  await scrubMirror(place, { ...OPTIONS, now: () => NOW - agoMs });
  return (await place.journal.read())!;
}

async function outcomeUnder(journal: Uint8Array, olderThanMs: number): Promise<string> {
  const place = placeOf(view(rotten(), 'a'));
  await place.journal.replace(journal);
  return (await scrubMirror(place, { ...OPTIONS, olderThanMs })).outcome;
}

type Change = { readonly at: number; readonly cut: number; readonly put: Uint8Array };
const spoil = (bytes: Uint8Array, { at, cut, put }: Change): Uint8Array =>
  Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);

test('no content of a journal makes a scrub report a damaged file that is due as good', async () => {
  const old = await journalOf(1_000);
  const change = fc.record({
    at: fc.nat(old.length),
    cut: fc.nat(40),
    put: fc.uint8Array({ maxLength: 20 }),
  });
  const changed = fc.array(change, { maxLength: 4 }).map((changes) => changes.reduce<Uint8Array>(spoil, old));
  const journal = fc.oneof(changed, fc.uint8Array({ maxLength: 2_000 }));
  await forAllAsync(60, [journal], async (bytes) => {
    expect(await outcomeUnder(bytes, 1_000)).toBe('damaged');
    expect(await outcomeUnder(bytes, 0)).toBe('damaged');
  });
});

test('no content of a journal is used for longer than the requested age', async () => {
  const journal = await journalOf(999);
  expect(await outcomeUnder(journal, 1_000)).toBe('good');
  expect(await outcomeUnder(journal, 999)).toBe('damaged');
});

test('scrubMirror refuses less than one job with a TypeError', async () => {
  await expect(scrubMirror(placeOf(view(made.files, 'a')), { ...OPTIONS, jobs: 0 })).rejects.toThrow(
    TypeError,
  );
});

test('scrubMirror gives the same result with many jobs', async () => {
  const one = await scrubMirror(placeOf(view(rotten(), 'a')), OPTIONS);
  expect(await scrubMirror(placeOf(view(rotten(), 'a')), { ...OPTIONS, jobs: 8 })).toEqual(one);
});
