import { defined } from '../bytes/index.ts';
import type { Result } from '../contract/index.ts';
import { LimitError } from '../errors.ts';
import type { Input } from './methods.ts';
import type { CallOptions, Settings } from './options.ts';

type ReportsName = 'evidence.exports.localReports';
type ExportsName = 'evidence.exports.list';
/** One row of the listing of local reports (control API, Local report item). */
export type LocalReportItem = Result<ReportsName>['items'][number];
/** One row of the listing of exports: the export resource. */
export type ExportItem = Result<ExportsName>['items'][number];

/** How each page is asked for. */
type How = Pick<CallOptions, 'signal' | 'onRetry'>;

/** The options of a list that is read page by page. */
export type PageOptions = {
  /** Items of one page, 1 to 100; default 100. */
  readonly pageSize?: number;
} & How;
type PageLimits = Pick<Settings['limits'], 'pages' | 'items'>;

/** Fetches one page of local reports. */
export type Page = (input: Input<ReportsName>, options: How) => Promise<Result<ReportsName>>;
/** Fetches one page of exports. */
export type ExportsPage = (input: Input<ExportsName>, options: How) => Promise<Result<ExportsName>>;

/** Every local report of an export, in order. @throws LimitError `client.PAGES_EXCEEDED` */
export function allLocalReports(
  page: Page,
  { projectId, evidenceExportId }: { readonly projectId: string; readonly evidenceExportId: string },
  limits: PageLimits,
  options: PageOptions,
): AsyncGenerator<LocalReportItem, void, undefined> {
  return allItems((at, how) => page({ projectId, evidenceExportId, ...at }, how), limits, options);
}

/**
 * Every export that can be read through a project, in the order of the control plane. How many there may be is
 * bounded by the pages alone: a project may have more exports than an export may have bundles.
 * @throws LimitError `client.PAGES_EXCEEDED`
 */
export function allExports(
  page: ExportsPage,
  projectId: string,
  { pages }: PageLimits,
  options: PageOptions,
): AsyncGenerator<ExportItem, void, undefined> {
  return allItems((at, how) => page({ projectId, ...at }, how), { pages, items: Infinity }, options);
}

type At = { readonly limit: number; readonly cursor?: string };
type Rows<T> = { readonly items: readonly T[]; readonly nextCursor?: string | undefined };

/**
 * Every item of a list, in order. A page without items but with a cursor is not the last one: only an absent cursor
 * ends the list.
 * @throws LimitError `client.PAGES_EXCEEDED` for a cursor that comes again, or more pages or items than the limits
 */
async function* allItems<T>(
  page: (at: At, how: How) => Promise<Rows<T>>,
  limits: PageLimits,
  { pageSize = 100, ...how }: PageOptions,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let items = 0;
  for (let pages = 1; ; pages++) {
    how.signal?.throwIfAborted();
    if (pages > limits.pages) throw exceeded(`the list has more than ${limits.pages} pages`);
    const { items: rows, nextCursor } = await page(defined({ limit: pageSize, cursor }), how);
    items += rows.length;
    if (items > limits.items) throw exceeded(`the list has more than ${limits.items} items`);
    for (const row of rows) {
      how.signal?.throwIfAborted();
      yield row;
    }
    if (nextCursor === undefined) return;
    if (seen.has(nextCursor)) throw exceeded('the list comes back to a page that was read before');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

const exceeded = (message: string): LimitError => new LimitError('client.PAGES_EXCEEDED', message);
