import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import type { ByteRange, ObjectRef } from './location.ts';
import { connectionLimits, type Requests, type S3Sdk } from './sdk.ts';

type Signer = Awaited<ReturnType<S3Client['config']['signer']>>;
type SdkRequest = Parameters<Signer['sign']>[0];

type Headers = Readonly<Record<string, string>>;
/** What a server reports about a stored object. */
export type Stored = { readonly etag?: string; readonly sha256?: string };

const PROBE = '-';

// A signature covers the path as S3 encodes it: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
const encodeKey = (key: string): string =>
  encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns the header Range; `undefined` for a whole object, which Ceph finds and reads in one step without it. */
export const formatReadRange = ({ bytes }: ObjectRef, { start, end }: ByteRange): string | undefined =>
  end - start === bytes ? undefined : `bytes=${start}-${end - 1}`;

/** Builds the request of the SDK for an object, without sending it. */
async function buildRequest(client: S3Client, sdk: S3Sdk, Bucket: string): Promise<SdkRequest> {
  const command = new sdk.GetObjectCommand({ Bucket, Key: PROBE });
  return new Promise((resolve, reject) => {
    const capture = async ({ request }: { readonly request: unknown }) => {
      resolve(request as SdkRequest);
      return { response: undefined, output: { $metadata: {} } };
    };
    command.middlewareStack.add(() => capture, { step: 'deserialize', priority: 'high' });
    client.send(command).catch(reject);
  });
}

async function openDirect(client: S3Client, sdk: S3Sdk, bucket: string, requests: Requests) {
  const [{ Pool }, signer, probe] = await Promise.all([
    import('undici'),
    client.config.signer(),
    buildRequest(client, sdk, bucket),
  ]);
  const { protocol, hostname, port } = probe;
  const { connections, connectionTimeout, socketTimeout } = connectionLimits(requests);
  const pool = new Pool(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`, {
    connections,
    connect: { timeout: connectionTimeout },
    headersTimeout: socketTimeout,
    bodyTimeout: socketTimeout,
  });
  const host = probe.headers['host'] ?? hostname;
  const root = probe.path.slice(0, -PROBE.length);
  const sign = async (method: string, key: string, headers: Headers) => {
    const path = root + encodeKey(key);
    const signingDate = new Date(Date.now() + client.config.systemClockOffset);
    const unsigned = { ...probe, method, path, query: {}, headers: { ...headers, host } };
    return { path, headers: (await signer.sign(unsigned, { signingDate })).headers };
  };
  /** Sends a request whose answer has no body; returns the headers of an expected answer. */
  const send = async (method: 'PUT' | 'DELETE', key: string, sent: Headers, bytes: Uint8Array | null) => {
    const { path, headers } = await sign(method, key, sent);
    const answer = await pool.request({ method, path, headers, body: bytes });
    await answer.body.dump();
    return [200, 204].includes(answer.statusCode) ? answer.headers : undefined;
  };
  return {
    /** Reads a range of an object; `undefined` if the answer is not exactly that range of this version. */
    async read(object: ObjectRef, { start, end }: ByteRange): Promise<Readable | undefined> {
      const range = formatReadRange(object, { start, end });
      const { path, headers } = await sign('GET', object.key, {});
      const conditions = { ...defined({ range }), 'if-match': object.etag };
      const answer = await pool.request({ method: 'GET', path, headers: { ...headers, ...conditions } });
      const body = answer.body.on('error', () => undefined); // the reader of the body gets the error
      if (
        answer.statusCode === (range === undefined ? 200 : 206) &&
        Number(answer.headers['content-length']) === end - start
      )
        return body;
      body.destroy();
      return undefined;
    },
    /** Writes a small object; `undefined` if the server did not accept it. */
    async put(key: string, bytes: Uint8Array, conditions: Headers): Promise<Stored | undefined> {
      // The signature covers the digest, so a server that verifies it rejects bytes that changed on the way.
      const sum = Buffer.from(digestOf(bytes).slice('sha256:'.length), 'hex');
      const sums = {
        'x-amz-content-sha256': sum.toString('hex'),
        'x-amz-checksum-sha256': sum.toString('base64'),
      };
      const type = { 'content-type': 'application/octet-stream', 'content-length': String(bytes.length) };
      const answer = await send('PUT', key, { ...conditions, ...sums, ...type }, bytes);
      const { etag, 'x-amz-checksum-sha256': sha256 } = answer ?? {};
      return answer && defined({ etag: etag?.toString(), sha256: sha256?.toString() });
    },
    /** Removes an object; `undefined` if the server did not accept it. */
    remove: async (key: string) => (await send('DELETE', key, {}, null)) && true,
    close: () => pool.destroy(),
  };
}

/**
 * Reads and writes objects without the SDK, which only provides the address and the signature. Its middleware and sockets cost
 * several times as much as the request. Each request is made once. If it fails, use the SDK, which retries and reports the
 * reason.
 */
export function createDirect(client: S3Client, sdk: S3Sdk, bucket: string, requests: Requests) {
  type Direct = Awaited<ReturnType<typeof openDirect>>;
  let opening: Promise<Direct> | undefined;
  const tryDirect = async <T>(work: (direct: Direct) => Promise<T>): Promise<T | undefined> => {
    try {
      opening ??= openDirect(client, sdk, bucket, requests).catch((cause: unknown) => {
        opening = undefined;
        throw cause;
      });
      return await work(await opening);
    } catch {
      return undefined;
    }
  };
  return {
    read: (...args: Parameters<Direct['read']>) => tryDirect((direct) => direct.read(...args)),
    put: (...args: Parameters<Direct['put']>) => tryDirect((direct) => direct.put(...args)),
    remove: (key: string) => tryDirect((direct) => direct.remove(key)),
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}
