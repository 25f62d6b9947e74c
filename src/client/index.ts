export type { CallOptions, Pace, Retry } from './http/call.ts';
export { createClient, type Client, type ExportRef } from './client.ts';
export type { Download, DownloadOptions } from './download.ts';
export { downloadPart, type PartRef } from './download-part.ts';
export { ControlError, HttpStatusError, statusOf } from './http/errors.ts';
export type { ClientOptions } from './options.ts';
export type { ExportItem, LocalReportItem, PageOptions } from './pages.ts';
export type { WaitOptions } from './wait.ts';
