import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memorySource, type EvidenceSource, type SourceFile } from '../../src/evidence/source.ts';
import type { LogFile } from '../../src/mirror/inventory.ts';
import { openJournal } from '../../src/scrub/journal.ts';
import { scrubMany, scrubMirror } from '../../src/scrub/mirror.ts';
import type { MirrorScrub } from '../../src/report/many/scrubs.ts';
import type { ScrubOptions, ScrubPlace, ScrubView } from '../../src/scrub/options.ts';
import { DrillproofError } from '../../src/errors.ts';
import { faultyAccess, flipBit, makeExport, NOW } from '../support/evidence.ts';
import { forAllAsync } from '../support/property.ts';

const PART = 'parts/evidence_000000000001.zip';
const OPTIONS: ScrubOptions = { tool: 'test', now: () => NOW };

const sample = await makeExport();

type Files = Readonly<Record<string, Uint8Array>>;

/** A view of files in memory, all with this identity. */
async function makeView(files: Files, identity: string, source = memorySource(files)): Promise<ScrubView> {
  const rows = (await source.files()).map((file) => [file.path, { ...file, identity }] as const);
  return { source, files: new Map<string, SourceFile>(rows), unfinished: false };
}

/** A place with the next of these views at each look, then always the last. Its journal is in memory. */
function makePlace(
  ...views: readonly Promise<ScrubView>[]
): ScrubPlace & { readonly looks: () => number; readonly log: LogFile } {
  let content = Buffer.alloc(0);
  let looks = 0;
  const log: LogFile = {
    read: () => Promise.resolve(content),
    update: async (change) => void (content = Buffer.from(change(content))),
  };
  return {
    name: 'evexp_000000000001',
    place: 'memory',
    journal: openJournal(log),
    log,
    stamp: async () => 'stamp',
    look: () => views[Math.min(looks++, views.length - 1)]!,
    sink: () => Promise.reject(new Error('nothing is written')),
    close: () => Promise.resolve(),
    looks: () => looks,
  };
}

const rotten = (path = PART): Files => ({ ...sample.files, [path]: flipBit(sample.files[path]!, 200) });
const codes = ({ faults }: MirrorScrub): string[] => faults.map(({ code }) => code);

describe('a scrub of a place that changes meanwhile', () => {
  test('reads a file again that was replaced while it was read', async () => {
    const place = makePlace(makeView(rotten(), 'a'), makeView(sample.files, 'b'));
    const result = await scrubMirror(place, OPTIONS);
    expect([result.outcome, codes(result)]).toEqual(['good', []]);
  });

  test('reports damage of a file that is the same before and after', async () => {
    const place = makePlace(makeView(rotten(), 'a'));
    expect(codes(await scrubMirror(place, OPTIONS))).toEqual(['part.DIGEST_MISMATCH']);
  });

  test('ends although the files never stop changing', async () => {
    const views = Array.from({ length: 50 }, (_, i) => makeView(rotten(), String(i)));
    const place = makePlace(...views);
    expect(codes(await scrubMirror(place, OPTIONS))).toEqual(['part.DIGEST_MISMATCH']);
    expect(place.looks()).toBeLessThan(10);
  });

  test('reads changed documents again too', async () => {
    const place = makePlace(makeView(rotten('manifest.json'), 'a'), makeView(sample.files, 'b'));
    expect((await scrubMirror(place, OPTIONS)).outcome).toBe('good');
  });
});

/** The export with an unreadable part. */
function makeUnreadable(code: 'io.UNREADABLE' | 'io.CHANGED'): EvidenceSource {
  const source = memorySource(sample.files);
  const broken = () => ({ ...faultyAccess(sample.files[PART]!, 0, code), close: () => Promise.resolve() });
  return { ...source, open: async (path) => (path === PART ? broken() : source.open(path)) };
}

describe('a scrub of unreadable files', () => {
  test.each(['io.UNREADABLE', 'io.CHANGED'] as const)('reports %s, which is not damage', async (code) => {
    const result = await scrubMirror(makePlace(makeView(sample.files, 'a', makeUnreadable(code))), OPTIONS);
    expect([result.outcome, codes(result)]).toEqual(['unreadable', [code]]);
    expect(result.faults[0]!.found).toBe('unreadable');
  });

  test('reports damage elsewhere as the outcome', async () => {
    const source = makeUnreadable('io.UNREADABLE');
    const other = 'parts/evidence_000000000002.zip';
    const bad = memorySource(rotten(other));
    const both = { ...source, open: (path: string) => (path === other ? bad : source).open(path) };
    const result = await scrubMirror(makePlace(makeView(sample.files, 'a', both)), OPTIONS);
    expect([result.outcome, codes(result)]).toEqual(['damaged', ['io.UNREADABLE', 'part.DIGEST_MISMATCH']]);
  });

  test('of one mirror reads the others', async () => {
    const missing = makePlace(Promise.reject(new DrillproofError('io.UNREADABLE', 'no')));
    const intact = makePlace(makeView(sample.files, 'a'));
    const outcomes: string[] = [];
    const open = (name: string) => (name === 'missing' ? missing : intact);
    const archive = { mirrors: ['missing', 'intact'], open };
    await scrubMany(archive, OPTIONS, async ({ outcome }) => void outcomes.push(outcome));
    expect(outcomes).toEqual(['unreadable', 'good']);
  });

  test('rethrows an error that is not a read error', async () => {
    const place = makePlace(Promise.reject(new RangeError('a bug')));
    await expect(scrubMirror(place, OPTIONS)).rejects.toThrow(RangeError);
  });
});

/** The journal of a scrub of the intact export in the past. */
async function makeJournal(agoMs: number): Promise<Uint8Array> {
  const place = makePlace(makeView(sample.files, 'a'));
  await scrubMirror(place, { ...OPTIONS, now: () => NOW - agoMs });
  return (await place.log.read())!;
}

async function scrubWith(journal: Uint8Array, olderThanMs: number): Promise<string> {
  const place = makePlace(makeView(rotten(), 'a'));
  await place.log.update(() => journal);
  return (await scrubMirror(place, { ...OPTIONS, olderThanMs })).outcome;
}

type Change = { readonly at: number; readonly cut: number; readonly put: Uint8Array };
const spoil = (bytes: Uint8Array, { at, cut, put }: Change): Uint8Array =>
  Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);

test('no content of a journal makes a scrub report a damaged file that is due as good', async () => {
  const old = await makeJournal(1_000);
  const change = fc.record({
    at: fc.nat(old.length),
    cut: fc.nat(40),
    put: fc.uint8Array({ maxLength: 20 }),
  });
  const changed = fc.array(change, { maxLength: 4 }).map((changes) => changes.reduce<Uint8Array>(spoil, old));
  const journal = fc.oneof(changed, fc.uint8Array({ maxLength: 2_000 }));
  await forAllAsync(60, [journal], async (bytes) => {
    expect(await scrubWith(bytes, 1_000)).toBe('damaged');
    expect(await scrubWith(bytes, 0)).toBe('damaged');
  });
});

test('no content of a journal is used for longer than the requested age', async () => {
  const journal = await makeJournal(999);
  expect(await scrubWith(journal, 1_000)).toBe('good');
  expect(await scrubWith(journal, 999)).toBe('damaged');
});

test('scrubMirror refuses less than one job with a TypeError', async () => {
  const place = makePlace(makeView(sample.files, 'a'));
  await expect(scrubMirror(place, { ...OPTIONS, jobs: 0 })).rejects.toThrow(TypeError);
});

test('scrubMirror gives the same result with many jobs', async () => {
  const results = [1, 8].map((jobs) => scrubMirror(makePlace(makeView(rotten(), 'a')), { ...OPTIONS, jobs }));
  expect(await results[1]).toEqual(await results[0]);
});
