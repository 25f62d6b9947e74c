/** `drillproof/client`: the typed HTTP client of a control plane, with retries, paging and downloads. */
export type { CallOptions, ClientOptions } from './client/options.ts';
export { type Client, createClient, type ExportRef, type PageOptions } from './client/client.ts';
export { ControlError, HttpStatusError, httpStatusOf } from './client/http/errors.ts';
export type { Download, DownloadOptions } from './client/http/download.ts';
export { downloadPart, type PartRef } from './client/download-part.ts';
export type { WaitOptions } from './client/wait.ts';
