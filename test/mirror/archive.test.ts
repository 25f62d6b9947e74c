import { describe, expect, it, vi } from 'vitest';
import { DrillproofError } from '../../src/errors.ts';
import { discoverExports, mirrorMany } from '../../src/mirror/archive.ts';
import { PROJECT, testClient } from '../client/make.ts';
import { makeExport } from '../faults/export-source.ts';

const idOf = (n: number): string => `evexp_${String(n).padStart(12, '0')}`;
const makeWishes = (n: number) =>
  Array.from({ length: n }, (_, i) => ({ projectId: PROJECT, evidenceExportId: idOf(i) }));
/** A mirror that fails for one export, or for every export. */
const makeFailing = (code: DrillproofError['code'], failingId?: string) => {
  const tried: string[] = [];
  const each = async ({ evidenceExportId }: { readonly evidenceExportId: string }): Promise<void> => {
    tried.push(evidenceExportId);
    if (evidenceExportId === (failingId ?? evidenceExportId))
      throw new DrillproofError(code, 'made for a test');
  };
  return { tried, each };
};

describe('mirrorMany', () => {
  it('continues after the failure of one export', async () => {
    const { each } = makeFailing('export.CHANGED', idOf(1));
    const outcome = await mirrorMany(makeWishes(5), each, { atOnce: 2 });
    expect(outcome).toMatchObject({ exports: 5, complete: 4, untried: 0, moreFailures: 0 });
    expect(outcome.failures.map(({ evidenceExportId }) => evidenceExportId)).toEqual([idOf(1)]);
    expect([...outcome.codes]).toEqual(['export.CHANGED']);
  });

  it.each(['transport.ABORTED', 'control.UNAUTHENTICATED', 'io.DISK_FULL'] as const)(
    'ends at %s, which every export would meet, and counts the rest as untried',
    async (code) => {
      const { each, tried } = makeFailing(code, idOf(1));
      const outcome = await mirrorMany(makeWishes(10), each, { atOnce: 1 });
      expect(tried).toHaveLength(2);
      expect(outcome).toMatchObject({ complete: 1, untried: 8 });
    },
  );

  it('ends if the server is unavailable, without trying every export', async () => {
    const { each, tried } = makeFailing('transport.UNREACHABLE');
    const outcome = await mirrorMany(makeWishes(100), each, { atOnce: 1 });
    expect(tried).toHaveLength(8);
    expect(outcome.untried).toBe(92);
  });

  it('lists a bounded number of 100,000 failures and counts the others', async () => {
    const { each } = makeFailing('export.CHANGED');
    const outcome = await mirrorMany(makeWishes(100_000), each, { atOnce: 4 });
    expect(outcome.failures).toHaveLength(1_000);
    expect(outcome.moreFailures).toBe(99_000);
  });

  it('throws an error that is not a DrillproofError', async () => {
    const work = mirrorMany(makeWishes(3), vi.fn().mockRejectedValue(new RangeError()), { atOnce: 1 });
    await expect(work).rejects.toThrow(RangeError);
  });
});

/** A control plane that lists these exports, two on a page. */
function listExports(exports: readonly object[]) {
  return testClient('http://control.example', {
    fetch: (url) => {
      const page = Number(new URL(url instanceof Request ? url.url : url).searchParams.get('cursor') ?? 0);
      const items = exports.slice(page * 2, page * 2 + 2);
      const more = page * 2 + 2 < exports.length;
      return Promise.resolve(Response.json({ items, ...(more && { nextCursor: String(page + 1) }) }));
    },
  }).client;
}
const { resource } = makeExport();
const row = (n: number, change: object = {}) => ({ ...resource, evidenceExportId: idOf(n), ...change });
const { manifestDigest: _digest, manifestBytes: _bytes, ...unfinished } = resource;
const deletion = { state: 'requested', version: 1, operationId: 'op_000000000001', requestedAtMs: 1 };

describe('discoverExports', () => {
  it('lists the available exports page by page and counts the others by state', async () => {
    const client = listExports([
      row(1),
      { ...unfinished, evidenceExportId: idOf(2), state: 'generating' },
      row(3, { deletion }),
      { ...unfinished, evidenceExportId: idOf(4), state: 'failed', failureCode: 'control.EXPORT_TOO_LARGE' },
      row(5),
    ]);
    const { wishes, unavailable } = await discoverExports(client, PROJECT, {});
    expect(wishes.map(({ evidenceExportId }) => evidenceExportId)).toEqual([1, 5].map(idOf));
    expect(Object.fromEntries(unavailable)).toEqual({ generating: 1, deleted: 1, failed: 1 });
    const all = await discoverExports(client, PROJECT, { unfinished: true });
    expect(all.wishes.map(({ evidenceExportId }) => evidenceExportId)).toEqual([1, 2, 5].map(idOf));
  });

  const held = { holdingOf: async () => 'held' as const };

  it('omits held exports, except those that changed since a time, exact to the millisecond', async () => {
    const client = listExports([99, 100, 101].map((updatedAtMs, n) => row(n, { updatedAtMs })));
    const { wishes, kept } = await discoverExports(client, PROJECT, { sinceMs: 100, ...held });
    expect([wishes.length, kept]).toEqual([2, 1]);
    expect(await discoverExports(client, PROJECT, held)).toMatchObject({ wishes: [], kept: 3 });
  });

  it('lists missing exports before those that are read again, whatever their age', async () => {
    const asked: unknown[] = [];
    const holdings = new Map([
      [idOf(1), 'present'],
      [idOf(2), 'held'],
    ] as const);
    const holdingOf = async (id: string, digest: string | undefined) => {
      asked.push([id, digest]);
      return holdings.get(id) ?? 'missing';
    };
    const client = listExports([row(1), row(2), row(3, { deletion }), row(4, { updatedAtMs: 1 })]);
    const { wishes, kept, unavailable } = await discoverExports(client, PROJECT, { holdingOf });
    expect(wishes.map(({ evidenceExportId }) => evidenceExportId)).toEqual([4, 1].map(idOf));
    expect([kept, Object.fromEntries(unavailable)]).toEqual([1, { deleted: 1 }]);
    expect(asked).toEqual([1, 2, 4].map((n) => [idOf(n), resource.manifestDigest]));
  });
});
