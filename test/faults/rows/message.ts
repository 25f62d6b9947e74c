import { gzipSync } from 'node:zlib';
import {
  headerLines,
  sendAnswer,
  sendForEver,
  writeHead,
  type Exchange,
  type FaultResponder,
} from '../proxy.ts';
import { endsAs, makeRows, ONE_OF_EACH_KIND, recoversOr } from './row.ts';

/** Answers with a different body, of the length that the head declares. */
const sendBody =
  (change: (bytes: Buffer) => Uint8Array, headers: Readonly<Record<string, string>> = {}): FaultResponder =>
  ({ answer, response }) =>
    sendAnswer(response, answer, { body: change(answer.body), headers });

const flip = (offset: (bytes: number) => number): FaultResponder =>
  sendBody((bytes) => bytes.with(offset(bytes.length), bytes[offset(bytes.length)]! ^ 1));

/** Declares one or more lengths, sends the body, and closes the connection. */
const declare =
  (...lengths: ((bytes: number) => string)[]): FaultResponder =>
  ({ answer: { status, headers, body }, response }) => {
    const head = [
      `HTTP/1.1 ${status} OK`,
      ...headerLines(headers),
      ...lengths.map((length) => `content-length: ${length(body.length)}`),
    ];
    const { socket } = response;
    socket?.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), () => socket.destroy());
  };

/** Sends the right body, and then zeros until the client closes the connection. */
const sendEndless: FaultResponder = ({ answer, response }) => {
  writeHead(response, answer, { headers: { 'content-length': undefined } });
  response.write(answer.body);
  sendForEver(response);
};

const BOMB = gzipSync(Buffer.alloc(32 * 1024 * 1024));

const LOGIN_PAGE = Buffer.from('<!doctype html><title>Log in to the network</title>');
const sendLoginPage = ({ answer, response }: Exchange): void =>
  sendAnswer(response, answer, {
    status: 200,
    headers: { 'content-type': 'text/html', etag: undefined, 'repr-digest': undefined },
    body: LOGIN_PAGE,
  });

/** The ends if the bytes are never right. */
const corrupt = (code: 'DIGEST_MISMATCH' | 'BYTES_MISMATCH') =>
  recoversOr({ resource: 'transport.DIGEST_MISMATCH', file: [`part.${code}`, `local-report.${code}`] });
const TOO_LONG = 'transport.BODY_TOO_LONG';

/** Faults of the message: other bytes, another length, another encoding. */
export const MESSAGE_FAULTS = [
  ...makeRows(corrupt('DIGEST_MISMATCH'), {
    'a wrong first byte': flip(() => 0),
    'a wrong byte in the middle': flip((bytes) => Math.floor(bytes / 2)),
    'a wrong last byte': flip((bytes) => bytes - 1),
  }),
  ...makeRows(corrupt('BYTES_MISMATCH'), {
    'a short body whose length matches its head': sendBody((bytes) => bytes.subarray(0, -1)),
    'no body at all': sendBody(() => new Uint8Array()),
    'a Content-Length one too small': declare((bytes) => String(bytes - 1)),
  }),
  // All bytes have arrived, and the digest proves them.
  ...makeRows(recoversOr({ resource: 'transport.INTERRUPTED', file: ['whole', 'transport.INTERRUPTED'] }), {
    'a Content-Length one too large, and the end of the connection': declare((bytes) => String(bytes + 1)),
  }),
  // The head breaks the rules of HTTP.
  ...makeRows(endsAs('transport.RESPONSE_INVALID', ONE_OF_EACH_KIND), {
    'a negative Content-Length': declare(() => '-1'),
    'a Content-Length that is not a number': declare(() => 'all'),
    'two lengths': declare(String, (bytes) => String(bytes + 1)),
    'a header of 200,000 bytes': ({ answer, response }) =>
      sendAnswer(response, answer, { headers: { 'x-long': 'x'.repeat(200_000) } }),
  }),
  // The size of the manifest is known, that of the attestation is not.
  ...makeRows(
    recoversOr({
      resource: 'transport.DIGEST_MISMATCH',
      document: [TOO_LONG, 'transport.DIGEST_MISMATCH'],
      file: TOO_LONG,
    }),
    { 'an extra byte': sendBody((bytes) => Buffer.concat([bytes, Buffer.of(0)])) },
  ),
  // Small files become larger in gzip.
  ...makeRows(
    recoversOr({
      resource: 'transport.DIGEST_MISMATCH',
      document: [TOO_LONG, 'transport.DIGEST_MISMATCH'],
      file: ['part.BYTES_MISMATCH', TOO_LONG],
    }),
    { 'gzip without Content-Encoding': sendBody((bytes) => gzipSync(bytes)) },
  ),
  ...makeRows(
    {
      once: { resource: TOO_LONG, document: 'whole', file: 'whole' },
      always: { resource: TOO_LONG, document: TOO_LONG, file: TOO_LONG },
    },
    { 'an endless body': sendEndless },
  ),
  ...makeRows(endsAs('transport.ENCODING_REFUSED'), {
    'the body in gzip': sendBody((bytes) => gzipSync(bytes), { 'content-encoding': 'gzip' }),
    'a gzip bomb': sendBody(() => BOMB, { 'content-encoding': 'gzip' }),
    'an unknown encoding': sendBody((bytes) => bytes, { 'content-encoding': 'x-rot13' }),
  }),
  ...makeRows(
    {
      once: { resource: 'transport.RESPONSE_INVALID', document: 'whole', file: 'whole' },
      always: {
        resource: 'transport.RESPONSE_INVALID',
        document: ['mirror.SOURCE_INVALID', 'json.INVALID'],
        file: ['part.BYTES_MISMATCH', TOO_LONG],
      },
    },
    { 'a login page in place of the answer': sendLoginPage },
  ),
];
