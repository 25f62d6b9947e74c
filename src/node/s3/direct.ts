import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { defined } from '../../bytes/arguments.ts';
import type { ByteRange, ObjectRef } from './location.ts';
import { connectionLimits, type Requests, type S3Sdk } from './sdk.ts';

type Signer = Awaited<ReturnType<S3Client['config']['signer']>>;
type SdkRequest = Parameters<Signer['sign']>[0];

/** Reads a range of an object; `undefined` if the answer is not exactly that range of this version. */
type DirectRead = (object: ObjectRef, range: ByteRange) => Promise<Readable | undefined>;
type DirectReader = { readonly read: DirectRead; close(): Promise<void> };

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

async function openDirect(
  client: S3Client,
  sdk: S3Sdk,
  bucket: string,
  requests: Requests,
): Promise<DirectReader> {
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
  const read: DirectRead = async (object, { start, end }) => {
    const path = root + encodeKey(object.key);
    const range = formatReadRange(object, { start, end });
    const signingDate = new Date(Date.now() + client.config.systemClockOffset);
    const signed = await signer.sign({ ...probe, path, query: {}, headers: { host } }, { signingDate });
    const headers = { ...signed.headers, ...defined({ range }), 'if-match': object.etag };
    const answer = await pool.request({ method: 'GET', path, headers });
    const body = answer.body.on('error', () => undefined); // the reader of the body gets the error
    if (
      answer.statusCode === (range === undefined ? 200 : 206) &&
      Number(answer.headers['content-length']) === end - start
    )
      return body;
    body.destroy();
    return undefined;
  };
  return { read, close: () => pool.destroy() };
}

/**
 * Reads objects without the SDK, which only provides the address and the signature. Its middleware and sockets cost
 * several times as much as the request. Each request is made once. If it fails, use the SDK, which retries and reports the
 * reason.
 */
export function createDirectReader(
  client: S3Client,
  sdk: S3Sdk,
  bucket: string,
  requests: Requests,
): DirectReader {
  let opening: Promise<DirectReader> | undefined;
  return {
    async read(...args) {
      try {
        opening ??= openDirect(client, sdk, bucket, requests).catch((cause: unknown) => {
          opening = undefined;
          throw cause;
        });
        return await (await opening).read(...args);
      } catch {
        return undefined;
      }
    },
    close: async () => (await opening?.catch(() => undefined))?.close(),
  };
}
