import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './envelope.ts';

/** A request from the HTTP server of Node or from a `Request`. */
export type HttpRequest = {
  readonly method: string;
  /** As it was sent, percent-encoded, without dot segments. */
  readonly path: string;
  readonly query: string;
  /** A header by its lower-case name. Repeated headers are joined, as in `Headers`, so that none of them is chosen. */
  readonly header: (name: string) => string | undefined;
  readonly body: BodyReader;
  readonly fault?: Refusal | undefined;
  /** Both are absent for a request without a connection. */
  readonly incoming?: IncomingMessage;
  readonly outgoing?: ServerResponse;
};

/** Reads a body piece by piece; `undefined` is its end. */
type BodyReader = {
  readonly read: () => Promise<Uint8Array | undefined>;
  readonly cancel: () => void;
};

// A path and a query. A fragment is not sent, and readers of addresses take a backslash for a slash.
const TARGET = /^\/[^\\?#]*(?:\?[^#]*)?$/;
// A proxy that compares paths as text would allow a path that leads elsewhere once its dot segments are resolved.
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
const PLAIN_HOST = /^[a-z0-9._-]+(?::[0-9]{1,5})?$/;
const PORT = /:[0-9]*$/;

function isHost(host: string): boolean {
  if (PLAIN_HOST.test(host)) return true;
  const url = `http://${host}`;
  return URL.canParse(url) && new URL(url).hostname === host.replace(PORT, '').toLowerCase();
}

const invalid = (message: string): Refusal => new Refusal('control.REQUEST_INVALID', message);

function findFault(target: string, header: HttpRequest['header']): Refusal | undefined {
  const host = header('host');
  if (host === undefined) return invalid('the Host header is missing');
  if (!TARGET.test(target) || !isHost(host))
    return invalid('the request target or the Host header is not valid');
  if (DOT_SEGMENT.test(target)) return invalid('the path has a dot segment');
  const expectation = header('expect')?.toLowerCase() ?? '100-continue';
  return expectation === '100-continue'
    ? undefined
    : new Refusal('control.EXPECTATION_FAILED', 'the only supported expectation is 100-continue');
}

const WAKERS = ['readable', 'end', 'error', 'close'] as const;

const waitFor = (incoming: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      for (const event of WAKERS) incoming.off(event, wake);
      resolve();
    };
    for (const event of WAKERS) incoming.on(event, wake);
  });

/** Reads without a stream: a small body usually arrives with its headers. */
const createNodeReader = (incoming: IncomingMessage): BodyReader => ({
  async read() {
    for (;;) {
      const piece: unknown = incoming.read();
      if (piece instanceof Uint8Array) return piece;
      if (incoming.destroyed && !incoming.readableEnded) throw new Error('the client disconnected');
      if (incoming.complete) return undefined;
      await waitFor(incoming);
    }
  },
  cancel: () => undefined,
});

export function readNodeRequest(incoming: IncomingMessage, outgoing: ServerResponse): HttpRequest {
  const { method = 'GET', url = '', headersDistinct } = incoming;
  const header = (name: string): string | undefined => headersDistinct[name]?.join(', ');
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const fault = findFault(url, header);
  return { method, path, query, header, body: createNodeReader(incoming), fault, incoming, outgoing };
}

function createWebReader({ body }: Request): BodyReader {
  const reader = body?.getReader();
  return {
    read: async () => (await reader?.read())?.value,
    cancel: () => void reader?.cancel().catch(() => undefined), // the sender may have disconnected
  };
}

export function readWebRequest(request: Request): HttpRequest {
  const { pathname: path, search } = new URL(request.url);
  const header = (name: string): string | undefined => request.headers.get(name) ?? undefined;
  return { method: request.method, path, query: search.slice(1), header, body: createWebReader(request) };
}

/** The target of a method and a path; `{name}` in a path is a parameter. */
type Route<T> = { readonly method: string; readonly path: string; readonly target: T };

type Params = Record<string, string>;
type Segment = { readonly text: string; readonly name: string | undefined };

const NAME = /^\{([A-Za-z]+)\}$/;

const parseTemplate = (path: string): Segment[] =>
  path.split('/').map((text) => ({ text, name: NAME.exec(text)?.[1] }));

/** Decodes the segments of a path. A segment with an invalid encoding stays unchanged; no resource has such a name. */
const decodePath = (path: string): string[] =>
  path.includes('%') ? path.split('/').map(decodeSegment) : path.split('/');

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function matchSegments(template: readonly Segment[], path: readonly string[]): Params | undefined {
  if (template.length !== path.length) return undefined;
  if (!template.every(({ text, name }, at) => (name === undefined ? path[at] === text : path[at] !== '')))
    return undefined;
  const params: Params = {};
  for (const [at, { name }] of template.entries()) if (name !== undefined) params[name] = path[at]!;
  return params;
}

/** Creates a router; a HEAD has the route of a GET. */
export function createRouter<T>(routes: readonly Route<T>[]) {
  const templates = routes.map(({ path, ...route }) => ({ ...route, segments: parseTemplate(path) }));
  return {
    find(method: string, path: string): { readonly target: T; readonly params: Params } | undefined {
      const served = method === 'HEAD' ? 'GET' : method;
      const segments = decodePath(path);
      for (const route of templates) {
        const params = route.method === served ? matchSegments(route.segments, segments) : undefined;
        if (params !== undefined) return { target: route.target, params };
      }
      return undefined;
    },
    /** Lists the methods that a path takes: none for a path without a route. */
    listMethods(path: string): string[] {
      const segments = decodePath(path);
      const matching = templates.filter((route) => matchSegments(route.segments, segments) !== undefined);
      const methods = matching.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      return [...new Set(methods)];
    },
  };
}
