export * from './client.ts';
export * from './download-part.ts';
export type { Download, DownloadOptions } from './download.ts';
export type { Fetch, HttpAnswer, HttpBody, HttpRead } from './options.ts';
export { sleepFor, type Sleep } from './http/deadline.ts';
export { assertDeclaredDigest } from './http/headers.ts';
export { ControlError, HttpStatusError, httpStatusOf } from './http/errors.ts';
export type { CallOptions, ClientOptions, Pace, Retry } from './options.ts';
export type { WaitOptions } from './wait.ts';
