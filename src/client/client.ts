import { checkArguments, defined } from '../bytes/arguments.ts';
import {
  type BytesOperationName,
  type CallableName,
  callableNames,
  type JsonOperationName,
  operationRow,
  type Result,
} from '../contract/operations/operations.ts';
import type { EvidenceExport, LocalReportItem } from '../contract/resources/evidence.ts';
import { createBackOff, callBytes, callJson, type BackOff } from './http/call.ts';
import type { Download, DownloadOptions } from './http/download.ts';
import { buildMethodTree, type Input, type Methods } from './methods.ts';
import {
  type CallOptions,
  CLIENT_OPTIONS,
  type ClientOptions,
  readOptions,
  type ClientSettings,
} from './options.ts';
import { createSendUpload, type SendUpload } from './upload.ts';
import { createWait, type Wait } from './wait.ts';
import { LimitError, TransportError } from '../errors.ts';

type How = Pick<CallOptions, 'signal' | 'onRetry'>;

/** The options of a list that is read page by page. */
export type PageOptions = {
  /** Items of one page, 1 to 100; default 100. */
  readonly pageSize?: number;
} & How;
type PagePosition = { readonly limit: number; readonly cursor?: string };
type Rows<T> = { readonly items: readonly T[]; readonly nextCursor?: string | undefined };

/**
 * Every item of a list, in order. A page without items but with a cursor is not the last one: only an absent cursor
 * ends the list.
 * @param accept throws for an item that cannot follow those before it
 * @throws LimitError `client.PAGES_EXCEEDED` for a repeated cursor, or more pages or items than the limits
 */
export async function* listItems<T>(
  fetchPage: (place: PagePosition, how: How) => Promise<Rows<T>>,
  limits: Pick<ClientSettings['limits'], 'pages' | 'items'>,
  { pageSize = 100, ...how }: PageOptions,
  accept: (item: T) => void,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  let items = 0;
  for (let pages = 1; ; pages++) {
    how.signal?.throwIfAborted();
    if (pages > limits.pages) throw pagesError(`the list has more than ${limits.pages} pages`);
    const { items: rows, nextCursor } = await fetchPage(defined({ limit: pageSize, cursor }), how);
    items += rows.length;
    if (items > limits.items) throw pagesError(`the list has more than ${limits.items} items`);
    for (const row of rows) {
      how.signal?.throwIfAborted();
      accept(row);
      yield row;
    }
    if (nextCursor === undefined) return;
    if (seen.has(nextCursor)) throw pagesError('the list returns to a page that was read before');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

/** Accepts each item once, and each with a higher ordinal than the one before, also on another page. */
function createOrderCheck<T>(describe: (item: T) => { readonly id: string; readonly ordinal?: number }) {
  const ids = new Set<string>();
  let last = -Infinity;
  return (item: T): void => {
    const { id, ordinal } = describe(item);
    if (ids.has(id)) throw listError(`the list has ${id} more than once`);
    ids.add(id);
    if (ordinal === undefined) return;
    if (ordinal <= last) throw listError(`the list has the ordinal ${ordinal} of ${id} after ${last}`);
    last = ordinal;
  };
}

function readReportRow({ source, archive }: LocalReportItem) {
  const { localReportId: id, ordinal } = source;
  if (archive.localReportId === id) return { id, ordinal };
  throw listError(`the list has the archive of ${archive.localReportId} for ${id}`);
}

const listError = (message: string): TransportError =>
  new TransportError('transport.RESPONSE_INVALID', message);
const pagesError = (message: string): LimitError => new LimitError('client.PAGES_EXCEEDED', message);

/** The ids of an export and of a project through which it is read. */
export type ExportRef = { readonly projectId: string; readonly evidenceExportId: string };

/**
 * A client of one control plane (control API). Every method checks its input before anything is sent and the answer
 * before it is returned, and fails with a `DrillproofError`: `client.REQUEST_INVALID`, a `ControlError` for what the
 * control plane answers, `transport.*` for the network, also for an answer beyond the limit.
 */
export type Client = Methods & {
  readonly operations: {
    /** Follows an operation to its end, and returns it if it succeeded. */
    readonly wait: Wait;
  };
  readonly builds: {
    readonly uploads: {
      /**
       * Sends the archive of an upload to its address, without the token, and resumes it after failures of the network or
       * in a later call. An address whose origin is not that of the control plane is refused unless `origin` names it.
       */
      readonly send: SendUpload;
    };
  };
  /** The base address, which holds no secret. */
  readonly baseUrl: string;
  /** Any operation that answers with bytes, by its name in the table. */
  download<N extends BytesOperationName>(
    name: N,
    input: Input<N>,
    options?: DownloadOptions,
  ): Promise<Download>;
  /**
   * Every local report of an export, page by page. Items do not name their export, so compare them with its manifest.
   * @throws LimitError `client.PAGES_EXCEEDED`; TransportError `transport.RESPONSE_INVALID` for a report that comes twice or
   *   an ordinal that does not rise
   */
  localReports(exportRef: ExportRef, options?: PageOptions): AsyncGenerator<LocalReportItem, void, undefined>;
  /**
   * Every export that can be read through a project, page by page.
   * @throws LimitError `client.PAGES_EXCEEDED`; TransportError `transport.RESPONSE_INVALID` for an export that comes twice
   */
  exports(projectId: string, options?: PageOptions): AsyncGenerator<EvidenceExport, void, undefined>;
  /** For resuming a download: waits by the retry policy, or throws the failure. */
  readonly backOff: BackOff;
};

/**
 * A typed client of a control plane, made from the table of operations (control API, Endpoints).
 * @throws DrillproofError `client.BASE_URL_INVALID`, or `client.REQUEST_INVALID` for a token that no header can carry;
 *   TypeError for an argument of the wrong kind
 * @example
 * const client = createClient({ baseUrl: 'https://drills.example', token });
 * const { state } = await client.evidence.exports.read({ projectId, evidenceExportId });
 */
export function createClient(options: ClientOptions): Client {
  checkArguments({ options: CLIENT_OPTIONS }, { options });
  const settings = readOptions(options);
  const call = <N extends JsonOperationName & CallableName>(name: N, input: Input<N>, how?: CallOptions) =>
    // The row's own schema has typed the answer.
    callJson(operationRow(name), input, settings, { ...how, operation: name }) as Promise<Result<N>>;
  const download: Client['download'] = (name, input, how = {}) =>
    callBytes(operationRow(name), input, settings, { ...how, operation: name });
  const tree = buildMethodTree(callableNames, (name) => (input, how = {}) => {
    const row = operationRow(name);
    const send = row.success.kind === 'json' ? callJson : callBytes;
    return send(row, input, settings, { ...how, operation: name });
  });
  const methods = tree as Methods; // the same names, split the same way
  const send = createSendUpload(settings, ({ attempt: { projectId, buildAttemptId } }, how) =>
    call('builds.attempts.read', { projectId, buildAttemptId }, how),
  );
  const wait = createWait((input, how) => call('operations.read', input, how), settings.sleep);
  return Object.freeze({
    ...methods,
    operations: { ...methods.operations, wait },
    builds: { ...methods.builds, uploads: { ...methods.builds.uploads, send } },
    baseUrl: settings.baseUrl,
    download,
    localReports: ({ projectId, evidenceExportId }: ExportRef, how: PageOptions = {}) =>
      listItems(
        (place, page) =>
          call('evidence.exports.localReports', { projectId, evidenceExportId, ...place }, page),
        settings.limits,
        how,
        createOrderCheck(readReportRow),
      ),
    // A project may have more exports than an export may have bundles: only the pages are limited.
    exports: (projectId: string, how: PageOptions = {}) =>
      listItems(
        (place, page) => call('evidence.exports.list', { projectId, ...place }, page),
        { ...settings.limits, items: Infinity },
        how,
        createOrderCheck(({ evidenceExportId: id }: EvidenceExport) => ({ id })),
      ),
    backOff: createBackOff(settings),
  });
}
