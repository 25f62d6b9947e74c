/** `drillproof/client`: the typed HTTP client of a control plane, with retries, paging and downloads. */
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  ControlError,
  createClient,
  type Download,
  type DownloadOptions,
  downloadPart,
  type ExportRef,
  HttpStatusError,
  type PageOptions,
  type PartRef,
  httpStatusOf,
  type WaitOptions,
} from './client/index.ts';
