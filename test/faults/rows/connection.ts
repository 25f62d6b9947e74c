import { headerLines, sendAnswer, writeHead, type Exchange, type FaultResponder } from '../proxy.ts';
import { endsAs, makeRows, recoversOr } from './row.ts';

/** Sends the head and the start of the body, and closes the connection. */
const cutAt =
  (length: (bytes: number) => number): FaultResponder =>
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

/** Sends the head and the start of the body, and nothing more. */
const stallAt =
  (length: (bytes: number) => number): FaultResponder =>
  ({ answer, response }) => {
    writeHead(response, answer);
    response.flushHeaders();
    response.write(answer.body.subarray(0, length(answer.body.length)));
  };

/** Sends one byte at a time, each within the timeouts. */
const drip =
  (head: boolean): FaultResponder =>
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

const sendRaw =
  (text: (exchange: Exchange) => string | Uint8Array): FaultResponder =>
  (exchange) => {
    const { socket } = exchange.response;
    socket?.write(text(exchange), () => socket.destroy());
  };

/** Faults of the connection: it breaks, or nothing arrives. */
export const CONNECTION_FAULTS = [
  ...makeRows(recoversOr('transport.INTERRUPTED'), {
    'a connection that closes after the server received the request': ({ response }) =>
      void response.socket?.destroy(),
    'a connection that is reset before the answer': ({ response }) => void response.socket?.resetAndDestroy(),
    'a cut before the first byte': cutAt(() => 0),
    'a cut after the first byte': cutAt(() => 1),
    'a cut in the middle': cutAt((bytes) => Math.floor(bytes / 2)),
    'a cut before the last byte': cutAt((bytes) => bytes - 1),
  }),
  // All bytes can have arrived, and the digest proves them.
  ...makeRows(recoversOr({ resource: 'transport.INTERRUPTED', file: ['whole', 'transport.INTERRUPTED'] }), {
    'a chunked body without its last chunk': ({ answer, response }) => {
      writeHead(response, answer, { headers: { 'content-length': undefined } });
      sendThenClose(response, answer.body);
    },
  }),
  ...makeRows(recoversOr('transport.TIMEOUT', { timed: true }), {
    'headers that never arrive': () => undefined,
    'headers that arrive byte by byte': drip(true),
    'a body that never begins': stallAt(() => 0),
    'a body that stops in the middle': stallAt((bytes) => Math.floor(bytes / 2)),
    'a body that arrives byte by byte': drip(false),
  }),
  ...makeRows(recoversOr({ resource: 'transport.TIMEOUT', file: 'whole' }, { timed: true }), {
    'a Content-Length one too large on a connection that stays open': ({ answer, response }) => {
      writeHead(response, answer, { headers: { 'content-length': String(answer.body.length + 1) } });
      response.write(answer.body);
    },
  }),
  ...makeRows(endsAs('transport.RESPONSE_INVALID'), {
    'an answer that is not HTTP': sendRaw(() => 'SSH-2.0-OpenSSH_9.2\r\n'),
  }),
  ...makeRows(
    recoversOr({
      resource: 'transport.DIGEST_MISMATCH',
      file: ['part.BYTES_MISMATCH', 'local-report.BYTES_MISMATCH'],
    }),
    {
      'an answer of HTTP/1.0 that ends too early, which its head does not show': sendRaw(({ answer }) =>
        Buffer.concat([http10(answer), answer.body.subarray(0, -7)]),
      ),
    },
  ),
  ...makeRows(endsAs('whole'), {
    'an answer in small pieces, which is allowed': ({ answer, response }) => {
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
    'an answer of HTTP/1.0 that ends with its connection, which is allowed': sendRaw(({ answer }) =>
      Buffer.concat([http10(answer), answer.body]),
    ),
    'bytes after the answer, which are discarded with their connection': ({ answer, response }) => {
      const { socket } = response;
      socket?.cork();
      sendAnswer(response, answer);
      socket?.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong');
      socket?.uncork();
    },
    'interim answers before the final one, which are allowed': ({ answer, response }) => {
      for (let i = 0; i < 5; i++) response.writeEarlyHints({ link: '</elsewhere>; rel=preload' });
      sendAnswer(response, answer);
    },
  }),
];

function http10({ status, headers }: Exchange['answer']): Buffer {
  return Buffer.from([`HTTP/1.0 ${status} OK`, ...headerLines(headers), '', ''].join('\r\n'));
}
