import {
  sendAnswer,
  writeHead,
  type Answer,
  type Change,
  type Exchange,
  type FaultResponder,
} from '../proxy.ts';
import { endsAs, makeRows, recoversOr } from './row.ts';

type Range = { readonly from: number; readonly to: number; readonly total: number };

const readRange = ({ headers }: Answer): Range => {
  const [, from, to, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return { from: Number(from), to: Number(to), total: Number(total) };
};

/** Affects only answers that are a range. Requests for a whole file get the right answer. */
const atRange =
  (respond: FaultResponder): FaultResponder =>
  (exchange) =>
    exchange.answer.status === 206 ? respond(exchange) : sendAnswer(exchange.response, exchange.answer);

const changeRange = (change: (answer: Answer) => Change): FaultResponder =>
  atRange(({ answer, response }) => sendAnswer(response, answer, change(answer)));

/** Sends the range with a different Content-Range. */
const nameRange = (name: (range: Range) => string | undefined): FaultResponder =>
  changeRange((answer) => ({ headers: { 'content-range': name(readRange(answer)) } }));

/** Sends the range with a different entity tag. */
const tagRange = (tag: (answer: Answer) => string | undefined): FaultResponder =>
  changeRange((answer) => ({ headers: { etag: tag(answer) } }));

let versions = 0;
/** Sends half of the body with a new entity tag each time. */
const cutNewVersion = ({ answer, response }: Exchange): void => {
  writeHead(response, answer, { headers: { etag: `"version-${versions++}"` } });
  response.write(answer.body.subarray(0, answer.body.length >> 1), () => void response.socket?.destroy());
};

/** Faults of answers that resume a file. */
export const RANGE_FAULTS = [
  ...makeRows(endsAs('whole', { at: ['rest'] }), {
    'a range that begins a byte early': nameRange(
      ({ from, to, total }) => `bytes ${from - 1}-${to}/${total}`,
    ),
    'a range that begins a byte late': nameRange(({ from, to, total }) => `bytes ${from + 1}-${to}/${total}`),
    'a range of a larger file': nameRange(({ from, to, total }) => `bytes ${from}-${to}/${total + 1}`),
    'a range of a smaller file': nameRange(({ from, to, total }) => `bytes ${from}-${to - 1}/${total - 1}`),
    'a range that ends after the file': nameRange(({ from, total }) => `bytes ${from}-${total}/${total}`),
    'a range in another unit': nameRange(({ from, to, total }) => `items ${from}-${to}/${total}`),
    'a range without Content-Range': nameRange(() => undefined),
    'a range of a file of unknown size, which is allowed': nameRange(
      ({ from, to }) => `bytes ${from}-${to}/*`,
    ),
    'a range with other bytes': changeRange(({ body }) => ({
      body: Buffer.concat([Buffer.of(7), body.subarray(0, -1)]),
    })),
    'half of the range, with the right Content-Range': changeRange((answer) => {
      const { from, total } = readRange(answer);
      const body = answer.body.subarray(0, Math.ceil(answer.body.length / 2));
      const range = `bytes ${from}-${from + body.length - 1}/${total}`;
      return { body, headers: { 'content-range': range } };
    }),
    'a range of another version': tagRange(() => '"another"'),
    'a range with a weak entity tag': tagRange(({ headers }) => `W/${headers['etag']}`),
    'a range without an entity tag': tagRange(() => undefined),
    'the whole file in answer to a range request': atRange(({ response, fetchWhole }) => {
      fetchWhole().then(
        (answer) => sendAnswer(response, answer),
        () => response.destroy(),
      );
    }),
    'a range that cannot be satisfied': atRange(({ answer, response }) => {
      response.writeHead(416, { 'content-range': `bytes */${readRange(answer).total}` }).end();
    }),
  }),
  ...makeRows(recoversOr('transport.INTERRUPTED', { at: ['part', 'rest', 'report'] }), {
    'another version in each answer, each cut in the middle': cutNewVersion,
  }),
  ...makeRows(
    recoversOr({
      resource: 'transport.DIGEST_MISMATCH',
      document: 'transport.RANGE_INVALID',
      file: 'transport.RANGE_INVALID',
      rest: 'whole',
    }),
    {
      'a range that was not requested': ({ answer, response }) => {
        const last = answer.body.length - 1;
        const range = answer.headers['content-range'] ?? `bytes 1-${last}/${last + 1}`;
        const body = answer.status === 206 ? answer.body : answer.body.subarray(1);
        sendAnswer(response, answer, { status: 206, body, headers: { 'content-range': range } });
      },
    },
  ),
];
