import type { Result } from '../contract/operations.ts';
import { LimitError } from '../errors.ts';
import type { Input } from './methods.ts';
import type { Settings } from './options.ts';

type Name = 'evidence.exports.localReports';
/** One row of the listing of local reports (control API, Local report item). */
export type LocalReportItem = Result<Name>['items'][number];

export type PageOptions = {
  /** Items of one page, 1 to 100; default 100. */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
};

/** Fetches one page. */
export type Page = (input: Input<Name>, options: { readonly signal?: AbortSignal }) => Promise<Result<Name>>;

/**
 * Every item of a list, in order. A page without items but with a cursor is not the last one: only an absent cursor
 * ends the list.
 * @throws LimitError `client.PAGES_EXCEEDED` for a cursor that comes again, or more pages or items than the limits
 */
export async function* allLocalReports(
  page: Page,
  exportRef: { readonly projectId: string; readonly evidenceExportId: string },
  limits: Pick<Settings['limits'], 'pages' | 'items'>,
  options: PageOptions,
): AsyncGenerator<LocalReportItem, void, undefined> {
  const { projectId, evidenceExportId } = exportRef;
  const { pageSize = 100, signal } = options;
  const seen = new Set<string>();
  let cursor: string | undefined;
  let items = 0;
  for (let pages = 1; ; pages++) {
    if (pages > limits.pages) throw exceeded(`the list has more than ${limits.pages} pages`);
    const { items: rows, nextCursor } = await page(
      { projectId, evidenceExportId, limit: pageSize, ...(cursor !== undefined && { cursor }) },
      { ...(signal !== undefined && { signal }) },
    );
    items += rows.length;
    if (items > limits.items) throw exceeded(`the list has more than ${limits.items} items`);
    yield* rows;
    if (nextCursor === undefined) return;
    if (seen.has(nextCursor)) throw exceeded('the list comes back to a page that was read before');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

const exceeded = (message: string): LimitError => new LimitError('client.PAGES_EXCEEDED', message);
