import { gzipSync } from 'node:zlib';
import { A_STAGE_OF_EACH_KIND, type FaultRow } from './row.ts';
import { sendAnswer, sendForEver, writeHead, type Exchange, type Strike } from '../proxy.ts';

/** Answers with another body, whole and of the length that the head declares. */
const bodyOf =
  (change: (bytes: Buffer) => Uint8Array, headers: Readonly<Record<string, string>> = {}): Strike =>
  ({ answer, response }) =>
    sendAnswer(response, answer, { body: change(answer.body), headers });

const flip = (at: (bytes: number) => number): Strike =>
  bodyOf((bytes) => {
    const other = Buffer.from(bytes);
    const where = at(bytes.length);
    other[where] = (other[where] ?? 0) ^ 1;
    return other;
  });

/** Declares another length than the body has, and closes. */
const declare =
  (...lengths: ((bytes: number) => string)[]): Strike =>
  ({ answer: { status, headers, body }, response }) => {
    const lines = Object.entries(headers).filter(([name]) => name !== 'content-length');
    const head = [
      `HTTP/1.1 ${status} OK`,
      ...lines.map(([name, value]) => `${name}: ${value}`),
      ...lengths.map((length) => `content-length: ${length(body.length)}`),
    ];
    const { socket } = response;
    socket?.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), () => socket.destroy());
  };

/** The true body, and then bytes for as long as anybody reads. */
const endless: Strike = ({ answer, response }) => {
  writeHead(response, answer, { headers: { 'content-length': undefined } });
  response.write(answer.body);
  sendForEver(response);
};

const BOMB = gzipSync(Buffer.alloc(32 * 1024 * 1024));

const LOGIN_PAGE = Buffer.from('<!doctype html><title>Log in to the network</title>');
const loginPage = ({ answer, response }: Exchange): void =>
  sendAnswer(response, answer, {
    status: 200,
    headers: { 'content-type': 'text/html', etag: undefined, 'repr-digest': undefined },
    body: LOGIN_PAGE,
  });

/** How a mirror ends that cannot get right bytes: an answer of JSON is nothing that could be proven and is not asked for again. */
const spoilt = (code: 'DIGEST_MISMATCH' | 'BYTES_MISMATCH'): Pick<FaultRow, 'once' | 'always'> => ({
  once: 'whole',
  always: {
    resource: 'transport.DIGEST_MISMATCH',
    document: 'transport.DIGEST_MISMATCH',
    file: [`part.${code}`, `local-report.${code}`],
  },
});

const ENCODING_REFUSED = {
  once: 'transport.ENCODING_REFUSED',
  always: 'transport.ENCODING_REFUSED',
} as const;

/** A head that breaks the rules of HTTP, in one of many ways. */
const BROKEN = {
  once: 'transport.RESPONSE_INVALID',
  always: 'transport.RESPONSE_INVALID',
  at: A_STAGE_OF_EACH_KIND,
} as const;

/** Faults of what comes: other bytes, another length, another coding. */
export const MESSAGE_FAULTS: readonly FaultRow[] = [
  { name: 'a wrong first byte', strike: flip(() => 0), ...spoilt('DIGEST_MISMATCH') },
  {
    name: 'a wrong byte in the middle',
    strike: flip((bytes) => Math.floor(bytes / 2)),
    ...spoilt('DIGEST_MISMATCH'),
  },
  { name: 'a wrong last byte', strike: flip((bytes) => bytes - 1), ...spoilt('DIGEST_MISMATCH') },
  {
    name: 'a body that is whole for its head but short',
    strike: bodyOf((bytes) => bytes.subarray(0, -1)),
    ...spoilt('BYTES_MISMATCH'),
  },
  { name: 'no body at all', strike: bodyOf(() => new Uint8Array()), ...spoilt('BYTES_MISMATCH') },
  {
    name: 'a Content-Length one too small',
    strike: declare((bytes) => String(bytes - 1)),
    ...spoilt('BYTES_MISMATCH'),
  },
  {
    name: 'a Content-Length one too large, and the end of the connection',
    strike: declare((bytes) => String(bytes + 1)),
    once: 'whole',
    always: {
      resource: 'transport.INTERRUPTED',
      document: 'transport.INTERRUPTED',
      // All its bytes have come, and their digest proves them.
      file: ['whole', 'transport.INTERRUPTED'],
    },
  },
  { name: 'a negative Content-Length', strike: declare(() => '-1'), ...BROKEN },
  { name: 'a Content-Length that is no number', strike: declare(() => 'all'), ...BROKEN },
  { name: 'two lengths', strike: declare(String, (bytes) => String(bytes + 1)), ...BROKEN },
  {
    name: 'headers without end',
    strike: ({ answer, response }) =>
      sendAnswer(response, answer, { headers: { 'x-long': 'x'.repeat(200_000) } }),
    ...BROKEN,
  },
  {
    name: 'one byte too many',
    strike: bodyOf((bytes) => Buffer.concat([bytes, Buffer.of(0)])),
    once: 'whole',
    always: {
      resource: 'transport.DIGEST_MISMATCH',
      // That of the manifest is known, that of the attestation is not.
      document: ['transport.BODY_TOO_LONG', 'transport.DIGEST_MISMATCH'],
      file: 'transport.BODY_TOO_LONG',
    },
  },
  {
    name: 'an endless body',
    strike: endless,
    once: { resource: 'json.TOO_LARGE', document: 'whole', file: 'whole' },
    always: {
      resource: 'json.TOO_LARGE',
      document: 'transport.BODY_TOO_LONG',
      file: 'transport.BODY_TOO_LONG',
    },
  },
  {
    name: 'the body in gzip',
    strike: bodyOf((bytes) => gzipSync(bytes), { 'content-encoding': 'gzip' }),
    ...ENCODING_REFUSED,
  },
  { name: 'a gzip bomb', strike: bodyOf(() => BOMB, { 'content-encoding': 'gzip' }), ...ENCODING_REFUSED },
  {
    name: 'a coding that nobody knows',
    strike: bodyOf((bytes) => bytes, { 'content-encoding': 'x-rot13' }),
    ...ENCODING_REFUSED,
  },
  {
    name: 'gzip that does not say so',
    strike: bodyOf((bytes) => gzipSync(bytes)),
    once: 'whole',
    always: {
      resource: 'transport.DIGEST_MISMATCH',
      document: ['transport.BODY_TOO_LONG', 'transport.DIGEST_MISMATCH'],
      // What is small becomes larger in gzip.
      file: ['part.BYTES_MISMATCH', 'transport.BODY_TOO_LONG'],
    },
  },
  {
    name: 'a login page in place of the answer',
    strike: loginPage,
    once: { resource: 'transport.RESPONSE_INVALID', document: 'whole', file: 'whole' },
    always: {
      resource: 'transport.RESPONSE_INVALID',
      document: ['export.RESOURCE_MISMATCH', 'json.INVALID'],
      file: ['part.BYTES_MISMATCH', 'transport.BODY_TOO_LONG'],
    },
  },
];
