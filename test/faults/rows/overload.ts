import { defined } from '../../../src/bytes/arguments.ts';
import type { Code } from '../../../src/codes/catalogue.ts';
import { sendForEver, type FaultResponder } from '../proxy.ts';
import { endsAs, makeRows, ONE_OF_EACH_KIND, recoversOr } from './row.ts';

type Headers = Readonly<Record<string, string>>;

const sendText =
  (status: number, headers: Headers = {}): FaultResponder =>
  ({ response }) =>
    void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end('not now');

const sendEnvelope =
  (
    status: number,
    members: { readonly code: Code; readonly [name: string]: unknown },
    headers: Headers = {},
  ): FaultResponder =>
  ({ response }) => {
    const body = { message: 'not now', correlationId: 'corr_faults', retryable: true, source: 'platform' };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ ...body, ...members }));
  };

/** Repeats the token in every text of an error. */
export const repeatToken =
  (status: number, code: Code): FaultResponder =>
  ({ headers, response }) => {
    const text = `you sent ${headers.authorization}`;
    const [correlationId, issues] = [text, [{ path: text, code: text, message: text }]];
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-token': headers.authorization ?? '',
    });
    response.end(
      JSON.stringify({ code, message: text, correlationId, retryable: false, source: 'platform', issues }),
    );
  };

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();

/** Values of Retry-After, and whether a client waits that long. */
const RETRY_AFTER: readonly (readonly [name: string, value: () => string | undefined, waits: boolean])[] = [
  ['no Retry-After', () => undefined, true],
  ['seconds', () => '7', true],
  ['zero seconds', () => '0', true],
  ['a date', () => inSeconds(9), true],
  ['a date in the past', () => inSeconds(-9), true],
  ['a negative number', () => '-5', true],
  ['a fraction', () => '1.5', true],
  ['garbage', () => 'soon', true],
  ['an empty Retry-After', () => '', true],
  ['10^9 seconds', () => '1000000000', false],
  ['a number of 400 digits', () => '9'.repeat(400), false],
  ['a date tomorrow', () => inSeconds(86_400), false],
];

const retryAfter = RETRY_AFTER.flatMap(([name, value, waits]) => {
  const headers = (): Headers => defined({ 'retry-after': value() });
  const expect = waits ? recoversOr : endsAs;
  return [
    ...makeRows(expect('control.RATE_LIMITED', name === 'seconds' ? {} : ONE_OF_EACH_KIND), {
      [`429 with ${name}`]: (exchange) =>
        sendEnvelope(429, { code: 'control.RATE_LIMITED' }, headers())(exchange),
    }),
    ...makeRows(expect('transport.UNREACHABLE', name === 'a date' ? {} : ONE_OF_EACH_KIND), {
      [`503 without an envelope, with ${name}`]: (exchange) => sendText(503, headers())(exchange),
    }),
  ];
});

/** Answers of a server that is overloaded or fails. */
export const OVERLOAD_FAULTS = [
  ...retryAfter,
  ...makeRows(recoversOr('control.RATE_LIMITED'), {
    '429 with a wait in the envelope': sendEnvelope(429, { code: 'control.RATE_LIMITED', retryAfterMs: 700 }),
  }),
  ...makeRows(endsAs('control.RATE_LIMITED'), {
    '429 with an excessive wait in the envelope': sendEnvelope(429, {
      code: 'control.RATE_LIMITED',
      retryAfterMs: Number.MAX_SAFE_INTEGER,
    }),
  }),
  ...makeRows(recoversOr('control.UNAVAILABLE'), {
    '503 with waits in head and envelope': sendEnvelope(
      503,
      { code: 'control.UNAVAILABLE', retryAfterMs: 900 },
      { 'retry-after': '2' },
    ),
  }),
  ...makeRows(endsAs('control.UNAVAILABLE'), {
    '503 that must not be retried': sendEnvelope(503, { code: 'control.UNAVAILABLE', retryable: false }),
  }),
  ...makeRows(endsAs('control.INTERNAL'), {
    '500 that repeats the token in all its texts': repeatToken(500, 'control.INTERNAL'),
  }),
  ...makeRows(recoversOr('transport.UNREACHABLE'), {
    '502': sendText(502),
    '503 in gzip': sendText(503, { 'content-encoding': 'gzip' }),
  }),
  ...makeRows(recoversOr('transport.UNREACHABLE', ONE_OF_EACH_KIND), { '504': sendText(504) }),
  ...makeRows(recoversOr('transport.UNREACHABLE', { timed: true }), {
    '503 whose body stalls': ({ response }) =>
      void response.writeHead(503, { 'content-length': 100 }).write('{'),
  }),
  ...makeRows(recoversOr('transport.RESPONSE_INVALID'), {
    '500': sendText(500),
    '500 with an endless body': ({ response }) => sendForEver(response.writeHead(500)),
  }),
  ...makeRows(recoversOr('transport.RESPONSE_INVALID', ONE_OF_EACH_KIND), {
    '408': sendText(408),
    '425': sendText(425),
  }),
  ...makeRows(endsAs('transport.RESPONSE_INVALID', ONE_OF_EACH_KIND), {
    '418, which is not temporary': sendText(418),
  }),
];
