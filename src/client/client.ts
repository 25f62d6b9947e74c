import { checkArguments } from '../bytes/index.ts';
import {
  type BytesOperationName,
  type CallableName,
  callableNames,
  type JsonOperationName,
  operationRow,
  type Result,
} from '../contract/index.ts';
import { createBackOff, callBytes, callJson, type BackOff } from './http/call.ts';
import type { Download, DownloadOptions } from './download.ts';
import { methodTree, type Input, type Methods } from './methods.ts';
import { type CallOptions, CLIENT_OPTIONS, type ClientOptions, readOptions } from './options.ts';
import { createWait, type Wait } from './wait.ts';
import { type ExportItem, listItems, type LocalReportItem, type PageOptions } from './pages.ts';

/** The ids of an export and of a project through which it is read. */
export type ExportRef = { readonly projectId: string; readonly evidenceExportId: string };

/**
 * A client of one control plane (control API). Every method checks its input before anything is sent and the answer
 * before it is returned, and fails with a `DrillproofError`: `client.REQUEST_INVALID`, a `ControlError` for what the
 * control plane answers, `transport.*` for the network, `json.TOO_LARGE` for an answer beyond the limit.
 */
export type Client = Methods & {
  readonly operations: {
    /** Follows an operation to its end, and returns it if it succeeded. */
    readonly wait: Wait;
  };
  /** The base address, which holds no secret. */
  readonly baseUrl: string;
  /** Any operation that answers with JSON, by its name in the table. */
  call<N extends JsonOperationName & CallableName>(
    name: N,
    input: Input<N>,
    options?: CallOptions,
  ): Promise<Result<N>>;
  /** Any operation that answers with bytes, by its name in the table. */
  download<N extends BytesOperationName>(
    name: N,
    input: Input<N>,
    options?: DownloadOptions,
  ): Promise<Download>;
  /** Every local report of an export, page by page. @throws LimitError `client.PAGES_EXCEEDED` */
  localReports(exportRef: ExportRef, options?: PageOptions): AsyncGenerator<LocalReportItem, void, undefined>;
  /** Every export that can be read through a project, page by page. @throws LimitError `client.PAGES_EXCEEDED` */
  exports(projectId: string, options?: PageOptions): AsyncGenerator<ExportItem, void, undefined>;
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
  const call: Client['call'] = <N extends JsonOperationName & CallableName>(
    name: N,
    input: Input<N>,
    how?: CallOptions,
  ) =>
    // The row's own schema has typed the answer.
    callJson(operationRow(name), input, settings, how ?? {}) as Promise<Result<N>>;
  const download: Client['download'] = (name, input, how = {}) =>
    callBytes(operationRow(name), input, settings, how);
  const tree = methodTree(callableNames, (name) => (input, how = {}) => {
    const row = operationRow(name);
    return (row.success.kind === 'json' ? callJson : callBytes)(row, input, settings, how);
  });
  const methods = tree as Methods; // the same names, split the same way
  const wait = createWait((input, how) => call('operations.read', input, how), settings.sleep);
  return Object.freeze({
    ...methods,
    operations: { ...methods.operations, wait },
    baseUrl: settings.baseUrl,
    call,
    download,
    localReports: ({ projectId, evidenceExportId }: ExportRef, how: PageOptions = {}) =>
      listItems(
        (place, page) =>
          call('evidence.exports.localReports', { projectId, evidenceExportId, ...place }, page),
        settings.limits,
        how,
      ),
    // A project may have more exports than an export may have bundles: only the pages are limited.
    exports: (projectId: string, how: PageOptions = {}) =>
      listItems(
        (place, page) => call('evidence.exports.list', { projectId, ...place }, page),
        { ...settings.limits, items: Infinity },
        how,
      ),
    backOff: createBackOff(settings),
  });
}
