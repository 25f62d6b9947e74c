import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listItems } from '../../src/client/client.ts';
import type { LocalReportItem } from '../../src/contract/resources/evidence.ts';
import { LimitError } from '../../src/errors.ts';
import { localReportItem } from '../contract/resources.ts';
import { EXPORT, exportRef, exportResource, failureOf, PROJECT, testClient } from './make.ts';
import { forAllAsync } from '../support/property.ts';

const reportItem = (ordinal: number, id = `lrep_${ordinal}`): LocalReportItem => ({
  source: { ...localReportItem.source, ordinal, localReportId: id },
  archive: { ...localReportItem.archive, localReportId: id },
});

type Page = Parameters<typeof listItems<number>>[0];

/** A list of numbers cut into pages of these sizes; the cursor is the number of the next page. */
function listOf(sizes: readonly number[]) {
  const asked: (string | undefined)[] = [];
  const page: Page = ({ cursor }) => {
    asked.push(cursor);
    const n = cursor === undefined ? 0 : Number(cursor);
    const before = sizes.slice(0, n).reduce((sum, size) => sum + size, 0);
    const items = Array.from({ length: sizes[n] ?? 0 }, (_, i) => before + i);
    return Promise.resolve({ items, ...(n + 1 < sizes.length && { nextCursor: String(n + 1) }) });
  };
  return { page, asked };
}

async function listAll(page: Page, limits = { pages: 100, items: 100 }): Promise<number[]> {
  const items: number[] = [];
  for await (const item of listItems(page, limits, {}, () => undefined)) items.push(item);
  return items;
}
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

const loops: Page = ({ cursor }) => Promise.resolve({ items: [], nextCursor: cursor === 'a' ? 'b' : 'a' });

/** A client whose server answers with these pages. */
const pagesOf = (pages: readonly (readonly object[])[]) => {
  let n = 0;
  const fetch = () => {
    const nextCursor = n + 1 < pages.length ? String(n) : undefined;
    return Promise.resolve(Response.json({ items: pages[n++], nextCursor }));
  };
  return testClient('http://control.example', { fetch }).client;
};

describe('a list that is read page by page', () => {
  it('is every item of every page, in order, however the list is cut', async () => {
    await forAllAsync(200, [fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 12 })], async (sizes) => {
      const { page, asked } = listOf(sizes);
      expect(await listAll(page)).toEqual(upTo(sizes.reduce((sum, size) => sum + size, 0)));
      expect(asked).toHaveLength(sizes.length);
    });
  });

  it('fails with PAGES_EXCEEDED when a cursor is repeated', async () => {
    const failure = await failureOf(listAll(loops));
    expect(failure).toBeInstanceOf(LimitError);
    expect(failure).toMatchObject({ code: 'client.PAGES_EXCEEDED' });
  });

  it('fails with PAGES_EXCEEDED on any list without an end', async () => {
    const cursors = fc.func(fc.string({ minLength: 1, maxLength: 4 }));
    await forAllAsync(100, [cursors], async (next) => {
      const endless: Page = ({ cursor }) => Promise.resolve({ items: [], nextCursor: next(cursor) });
      expect(await failureOf(listAll(endless))).toMatchObject({ code: 'client.PAGES_EXCEEDED' });
    });
  });

  it('has at most as many pages and items as the limits', async () => {
    expect(await listAll(listOf([1, 1, 1]).page, { pages: 3, items: 3 })).toEqual(upTo(3));
    const code = { code: 'client.PAGES_EXCEEDED' };
    expect(await failureOf(listAll(listOf([1, 1, 1]).page, { pages: 2, items: 3 }))).toMatchObject(code);
    expect(await failureOf(listAll(listOf([1, 1, 1]).page, { pages: 3, items: 2 }))).toMatchObject(code);
  });

  it('fails with the reason of its signal at the current page, without an item of it or another page', async () => {
    const { page, asked } = listOf([1, 2, 0, 3]);
    for (const last of [1, 2]) {
      asked.length = 0;
      const stop = new AbortController();
      const stopping: Page = (input, how) => {
        if (asked.length === last) stop.abort('enough');
        return page(input, how);
      };
      const items: number[] = [];
      const list = async (): Promise<void> => {
        const all = listItems(stopping, { pages: 9, items: 9 }, { signal: stop.signal }, () => undefined);
        for await (const listed of all) items.push(listed);
      };
      await expect(list()).rejects.toBe('enough');
      expect([items.length, asked.length]).toEqual([last === 1 ? 1 : 3, last + 1]);
    }
  });

  it('asks for pages of the requested size and follows the cursor through the client', async () => {
    const urls: string[] = [];
    const answers = [{ items: [reportItem(0)], nextCursor: 'next one' }, { items: [reportItem(1)] }];
    const { client } = testClient('http://control.example', {
      fetch: (input) => {
        urls.push(new Request(input).url);
        return Promise.resolve(Response.json(answers[urls.length - 1]));
      },
    });
    const ordinals: number[] = [];
    for await (const { source } of client.localReports(exportRef, { pageSize: 7 }))
      ordinals.push(source.ordinal);
    expect(ordinals).toEqual([0, 1]);
    expect(urls).toEqual([
      `http://control.example/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/local-reports?limit=7`,
      `http://control.example/v1/projects/${PROJECT}/evidence-exports/${EXPORT}/local-reports?limit=7&cursor=next+one`,
    ]);
  });

  it.each([
    ['the same ordinal twice', [[reportItem(1), reportItem(1, 'lrep_b')]], 1],
    ['a lower ordinal', [[reportItem(1), reportItem(0)]], 1],
    ['a lower ordinal on the next page', [[reportItem(0), reportItem(7)], [reportItem(6)]], 2],
    [
      'a report twice, with another ordinal, on the next page',
      [[reportItem(0)], [reportItem(1, 'lrep_0')]],
      1,
    ],
  ])(
    'fails with RESPONSE_INVALID for local reports with %s, and returns those before it',
    async (_, pages, good) => {
      const items: LocalReportItem[] = [];
      const list = async (): Promise<void> => {
        for await (const listed of pagesOf(pages).localReports(exportRef)) items.push(listed);
      };
      expect(await failureOf(list())).toMatchObject({ code: 'transport.RESPONSE_INVALID' });
      expect(items).toHaveLength(good);
    },
  );

  it('returns local reports whose ordinals rise with gaps', async () => {
    const ordinals: number[] = [];
    const client = pagesOf([[reportItem(-3), reportItem(0)], [], [reportItem(9)]]);
    for await (const { source } of client.localReports(exportRef)) ordinals.push(source.ordinal);
    expect(ordinals).toEqual([-3, 0, 9]);
  });

  it('fails with RESPONSE_INVALID for an export that comes twice', async () => {
    const client = pagesOf([[exportResource], [exportResource]]);
    const list = async (): Promise<void> => {
      for await (const _ of client.exports(PROJECT)) continue;
    };
    expect(await failureOf(list())).toMatchObject({ code: 'transport.RESPONSE_INVALID' });
  });
});
