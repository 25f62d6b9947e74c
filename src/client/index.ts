export type { BackOff, CallOptions, Retry } from './call.ts';
export { createClient, type Client, type ExportRef } from './client.ts';
export type { Sleep } from './deadline.ts';
export type { Download, DownloadOptions } from './download.ts';
export { ControlError, HttpStatusError, statusOf, type ControlIssue } from './http-errors.ts';
export type { Input, Methods } from './methods.ts';
export type { ClientOptions, LimitOptions, ParameterNames, RetryOptions, TimeoutOptions } from './options.ts';
export type { LocalReportItem, PageOptions } from './pages.ts';
export type { ByteRange, ContentRange } from './ranges.ts';
