/** `drillproof/client`: the typed HTTP client of a control plane, with retries, paging and downloads. */
export {
  ControlError,
  createClient,
  downloadPart,
  HttpStatusError,
  statusOf,
  type CallOptions,
  type Client,
  type ClientOptions,
  type Download,
  type DownloadOptions,
  type ExportRef,
  type PageOptions,
  type PartRef,
  type WaitOptions,
} from './client/index.ts';
