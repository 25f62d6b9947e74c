import type { FaultRow } from './row.ts';
import { sendAnswer, writeHead, type Exchange, type Strike } from '../proxy.ts';

/** Sends the head and so much of the body, and closes the connection. */
const cutAt =
  (length: (bytes: number) => number): Strike =>
  ({ answer, response }) => {
    writeHead(response, answer);
    sendThenClose(response, answer.body.subarray(0, Math.max(0, length(answer.body.length))));
  };

function sendThenClose(response: Exchange['response'], bytes: Uint8Array): void {
  const close = (): void => void response.socket?.destroy();
  response.flushHeaders();
  if (bytes.length === 0) setImmediate(close);
  else response.write(bytes, close);
}

/** Sends the head and so much of the body, and nothing more. */
const stallAt =
  (length: (bytes: number) => number): Strike =>
  ({ answer, response }) => {
    writeHead(response, answer);
    response.flushHeaders();
    response.write(answer.body.subarray(0, length(answer.body.length)));
  };

/** Sends bytes one by one, each of them within every limit. */
const drip =
  (head: boolean): Strike =>
  ({ answer, response }) => {
    const { socket } = response;
    if (socket === null) return;
    if (!head) {
      writeHead(response, answer);
      response.flushHeaders();
    }
    const bytes = head ? Buffer.from(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(9999)}`) : answer.body;
    let at = 0;
    const timer = setInterval(() => socket.write(bytes.subarray(at, ++at)), 120);
    socket.on('close', () => clearInterval(timer));
  };

const raw =
  (text: (exchange: Exchange) => string | Uint8Array): Strike =>
  (exchange) => {
    const { socket } = exchange.response;
    socket?.write(text(exchange), () => socket.destroy());
  };

const INTERRUPTED = { once: 'whole', always: 'transport.INTERRUPTED' } as const;
const TIMEOUT = { once: 'whole', always: 'transport.TIMEOUT', timed: true } as const;

/** Faults of the connection: it breaks, or nothing comes. */
export const CONNECTION_FAULTS: readonly FaultRow[] = [
  {
    name: 'the connection closes before the answer, which the server has given',
    strike: ({ response }) => void response.socket?.destroy(),
    ...INTERRUPTED,
  },
  {
    name: 'the connection is reset before the answer',
    strike: ({ response }) => void response.socket?.resetAndDestroy(),
    ...INTERRUPTED,
  },
  { name: 'a cut before the first byte', strike: cutAt(() => 0), ...INTERRUPTED },
  { name: 'a cut after the first byte', strike: cutAt(() => 1), ...INTERRUPTED },
  { name: 'a cut in the middle', strike: cutAt((bytes) => Math.floor(bytes / 2)), ...INTERRUPTED },
  { name: 'a cut before the last byte', strike: cutAt((bytes) => bytes - 1), ...INTERRUPTED },
  {
    name: 'a chunked body without its last chunk',
    strike: ({ answer, response }) => {
      writeHead(response, answer, { headers: { 'content-length': undefined } });
      sendThenClose(response, answer.body);
    },
    once: 'whole',
    always: {
      resource: 'transport.INTERRUPTED',
      document: 'transport.INTERRUPTED',
      // All its bytes may have come, and their digest proves them.
      file: ['whole', 'transport.INTERRUPTED'],
    },
  },
  { name: 'headers that never come', strike: () => undefined, ...TIMEOUT },
  { name: 'headers that come byte by byte', strike: drip(true), ...TIMEOUT },
  { name: 'a body that never begins', strike: stallAt(() => 0), ...TIMEOUT },
  { name: 'a body that stops in the middle', strike: stallAt((bytes) => Math.floor(bytes / 2)), ...TIMEOUT },
  { name: 'a body that comes byte by byte', strike: drip(false), ...TIMEOUT },
  {
    name: 'a Content-Length one too large on a connection that stays open',
    strike: ({ answer, response }) => {
      writeHead(response, answer, { headers: { 'content-length': String(answer.body.length + 1) } });
      response.write(answer.body);
    },
    ...TIMEOUT,
    always: { resource: 'transport.TIMEOUT', document: 'transport.TIMEOUT', file: 'whole' },
  },
  {
    name: 'an answer that is no HTTP',
    strike: raw(() => 'SSH-2.0-OpenSSH_9.2\r\n'),
    once: 'transport.RESPONSE_INVALID',
    always: 'transport.RESPONSE_INVALID',
  },
  {
    name: 'an answer in small pieces, which is no fault',
    strike: ({ answer, response }) => {
      writeHead(response, answer);
      const step = Math.ceil(answer.body.length / 5);
      let at = 0;
      const timer = setInterval(() => {
        response.write(answer.body.subarray(at, (at += step)));
        if (at < answer.body.length) return;
        clearInterval(timer);
        response.end();
      }, 5);
    },
    once: 'whole',
    always: 'whole',
  },
  {
    name: 'an answer of HTTP/1.0 that ends with its connection, which is no fault',
    strike: raw(({ answer }) => Buffer.concat([http10(answer), answer.body])),
    once: 'whole',
    always: 'whole',
  },
  {
    name: 'an answer of HTTP/1.0 that ends too early, which its head does not tell',
    strike: raw(({ answer }) => Buffer.concat([http10(answer), answer.body.subarray(0, -7)])),
    once: 'whole',
    always: {
      resource: 'transport.DIGEST_MISMATCH',
      document: 'transport.DIGEST_MISMATCH',
      file: ['part.BYTES_MISMATCH', 'local-report.BYTES_MISMATCH'],
    },
  },
  {
    name: 'bytes behind the answer, which are dropped with their connection',
    strike: ({ answer, response }) => {
      const stray = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong';
      const { socket } = response;
      socket?.cork();
      sendAnswer(response, answer);
      socket?.write(stray);
      socket?.uncork();
    },
    once: 'whole',
    always: 'whole',
  },
  {
    name: 'interim answers before the real one, which are no fault',
    strike: ({ answer, response }) => {
      for (let i = 0; i < 5; i++) response.writeEarlyHints({ link: '</elsewhere>; rel=preload' });
      sendAnswer(response, answer);
    },
    once: 'whole',
    always: 'whole',
  },
];

function http10({ status, headers }: Exchange['answer']): Buffer {
  const lines = Object.entries(headers).filter(([name]) => name !== 'content-length');
  return Buffer.from(
    [`HTTP/1.0 ${status} OK`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n'),
  );
}
