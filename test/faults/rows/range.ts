import type { FaultRow } from './row.ts';
import { sendAnswer, writeHead, type Answer, type Exchange, type Strike } from '../proxy.ts';

const rangeOf = ({ headers }: Answer): { from: number; to: number; total: number } => {
  const [, from, to, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return { from: Number(from), to: Number(to), total: Number(total) };
};

/** Strikes only answers that are a range; what is asked for from its beginning comes right. */
const ofRange =
  (strike: Strike): Strike =>
  (exchange) =>
    exchange.answer.status === 206 ? strike(exchange) : sendAnswer(exchange.response, exchange.answer);

/** The range under another Content-Range. */
const sayRange = (say: (range: { from: number; to: number; total: number }) => string | undefined): Strike =>
  ofRange(({ answer, response }) =>
    sendAnswer(response, answer, { headers: { 'content-range': say(rangeOf(answer)) } }),
  );

let versions = 0;
/** Says another version each time, and cuts. */
const otherVersionCut = ({ answer, response }: Exchange): void => {
  writeHead(response, answer, { headers: { etag: `"version-${versions++}"` } });
  response.write(answer.body.subarray(0, answer.body.length >> 1), () => void response.socket?.destroy());
};

const WHOLE = { once: 'whole', always: 'whole' } as const;
const REST = { at: ['rest'] } as const;
const ANEW = { ...WHOLE, ...REST };

/** Faults of going on where an earlier answer stopped. */
export const RANGE_FAULTS: readonly FaultRow[] = [
  {
    name: 'a range that begins a byte early',
    strike: sayRange(({ from, to, total }) => `bytes ${from - 1}-${to}/${total}`),
    ...ANEW,
  },
  {
    name: 'a range that begins a byte late',
    strike: sayRange(({ from, to, total }) => `bytes ${from + 1}-${to}/${total}`),
    ...ANEW,
  },
  {
    name: 'a range of another whole',
    strike: sayRange(({ from, to, total }) => `bytes ${from}-${to}/${total + 1}`),
    ...ANEW,
  },
  {
    name: 'a range of a smaller whole',
    strike: sayRange(({ from, to, total }) => `bytes ${from}-${to - 1}/${total - 1}`),
    ...ANEW,
  },
  {
    name: 'a range that contradicts itself',
    strike: sayRange(({ from, total }) => `bytes ${from}-${total}/${total}`),
    ...ANEW,
  },
  {
    name: 'a range in another unit',
    strike: sayRange(({ from, to, total }) => `items ${from}-${to}/${total}`),
    ...ANEW,
  },
  { name: 'a range that does not say which', strike: sayRange(() => undefined), ...ANEW },
  {
    name: 'a range whose whole has no known size, which is no fault',
    strike: sayRange(({ from, to }) => `bytes ${from}-${to}/*`),
    ...ANEW,
  },
  {
    name: 'other bytes than the range that is named',
    strike: ofRange(({ answer, response }) =>
      sendAnswer(response, answer, { body: Buffer.concat([Buffer.of(7), answer.body.subarray(0, -1)]) }),
    ),
    ...ANEW,
  },
  {
    name: 'half of the range, and named so',
    strike: ofRange(({ answer, response }) => {
      const { from, total } = rangeOf(answer);
      const body = answer.body.subarray(0, Math.ceil(answer.body.length / 2));
      const range = `bytes ${from}-${from + body.length - 1}/${total}`;
      sendAnswer(response, answer, { body, headers: { 'content-range': range } });
    }),
    ...ANEW,
  },
  {
    name: 'a range of another version',
    strike: ofRange(({ answer, response }) =>
      sendAnswer(response, answer, { headers: { etag: '"another"' } }),
    ),
    ...ANEW,
  },
  {
    name: 'a range under a weak entity tag',
    strike: ofRange(({ answer, response }) =>
      sendAnswer(response, answer, { headers: { etag: `W/${answer.headers['etag']}` } }),
    ),
    ...ANEW,
  },
  {
    name: 'a range without an entity tag',
    strike: ofRange(({ answer, response }) => sendAnswer(response, answer, { headers: { etag: undefined } })),
    ...ANEW,
  },
  {
    name: 'the whole in answer to a range',
    strike: ofRange(({ response, whole }) => {
      whole().then(
        (answer) => sendAnswer(response, answer),
        () => response.destroy(),
      );
    }),
    ...ANEW,
  },
  {
    name: 'a range that cannot be satisfied',
    strike: ofRange(({ answer, response }) => {
      response.writeHead(416, { 'content-range': `bytes */${rangeOf(answer).total}` });
      response.end();
    }),
    ...ANEW,
  },
  {
    name: 'another version in each answer, each cut in the middle',
    strike: otherVersionCut,
    once: 'whole',
    always: 'transport.INTERRUPTED',
    at: ['part', 'rest', 'report'],
  },
  {
    name: 'a range though none was asked for',
    strike: ({ answer, response }) => {
      const last = answer.body.length - 1;
      const range = answer.headers['content-range'] ?? `bytes 1-${last}/${last + 1}`;
      const body = answer.status === 206 ? answer.body : answer.body.subarray(1);
      sendAnswer(response, answer, { status: 206, body, headers: { 'content-range': range } });
    },
    once: 'whole',
    always: {
      resource: 'transport.DIGEST_MISMATCH',
      document: 'transport.RANGE_INVALID',
      file: 'transport.RANGE_INVALID',
      rest: 'whole',
    },
  },
];
