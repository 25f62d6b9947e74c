/** The `fetch` of a client: that of the platform, or one that makes only what the client uses of it. */
export type Fetch = (
  url: URL,
  init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<HttpAnswer>;

/** What the client uses of a `Response`. */
export type HttpAnswer = Pick<Response, 'status' | 'ok'> & {
  readonly type: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: HttpBody | null;
};

/** What the client uses of a `ReadableStream`. */
export type HttpBody = {
  readonly locked: boolean;
  getReader(): {
    read(): Promise<
      | { readonly done: false; readonly value: Uint8Array }
      | { readonly done: true; readonly value?: Uint8Array | undefined }
    >;
    cancel(): Promise<void>;
  };
  cancel(): Promise<void>;
};
