import { defined } from '../bytes/index.ts';
import type { Result } from '../contract/index.ts';
import { LimitError } from '../errors.ts';
import type { CallOptions, Settings } from './options.ts';

type ReportsName = 'evidence.exports.localReports';
type ExportsName = 'evidence.exports.list';
/** One row of the listing of local reports (control API, Local report item). */
export type LocalReportItem = Result<ReportsName>['items'][number];
/** One row of the listing of exports: the export resource. */
export type ExportItem = Result<ExportsName>['items'][number];

type How = Pick<CallOptions, 'signal' | 'onRetry'>;

/** The options of a list that is read page by page. */
export type PageOptions = {
  /** Items of one page, 1 to 100; default 100. */
  readonly pageSize?: number;
} & How;
/** Where a page begins, and how many items it has at most. */
type Place = { readonly limit: number; readonly cursor?: string };
type Rows<T> = { readonly items: readonly T[]; readonly nextCursor?: string | undefined };

/**
 * Every item of a list, in order. A page without items but with a cursor is not the last one: only an absent cursor
 * ends the list.
 * @throws LimitError `client.PAGES_EXCEEDED` for a repeated cursor, or more pages or items than the limits
 */
export async function* listItems<T>(
  fetchPage: (place: Place, how: How) => Promise<Rows<T>>,
  limits: Pick<Settings['limits'], 'pages' | 'items'>,
  { pageSize = 100, ...how }: PageOptions,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let items = 0;
  for (let pages = 1; ; pages++) {
    how.signal?.throwIfAborted();
    if (pages > limits.pages) throw exceeded(`the list has more than ${limits.pages} pages`);
    const { items: rows, nextCursor } = await fetchPage(defined({ limit: pageSize, cursor }), how);
    items += rows.length;
    if (items > limits.items) throw exceeded(`the list has more than ${limits.items} items`);
    for (const row of rows) {
      how.signal?.throwIfAborted();
      yield row;
    }
    if (nextCursor === undefined) return;
    if (seen.has(nextCursor)) throw exceeded('the list returns to a page that was read before');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

const exceeded = (message: string): LimitError => new LimitError('client.PAGES_EXCEEDED', message);
