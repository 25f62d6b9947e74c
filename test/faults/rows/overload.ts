import type { Code } from '../../../src/codes/index.ts';
import { A_STAGE_OF_EACH_KIND, STAGES, type Ends, type FaultRow } from './row.ts';
import { sendForEver, type Strike } from '../proxy.ts';

const bare =
  (status: number, headers: Readonly<Record<string, string>> = {}): Strike =>
  ({ response }) => {
    response.writeHead(status, { 'content-type': 'text/plain', ...headers });
    response.end('not now');
  };

type Envelope = { readonly code: Code; readonly retryable?: boolean; readonly retryAfterMs?: number };

const envelope =
  (
    status: number,
    { code, retryable = true, retryAfterMs }: Envelope,
    headers: Readonly<Record<string, string>> = {},
  ): Strike =>
  ({ response }) => {
    const body = { code, message: 'not now', correlationId: 'corr_faults', retryable, source: 'platform' };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ ...body, ...(retryAfterMs !== undefined && { retryAfterMs }) }));
  };

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();

/** What a server may say of when to come back, and whether that can be obeyed. */
const RETRY_AFTER: readonly (readonly [name: string, value: () => string | undefined, bearable: boolean])[] =
  [
    ['no word of when', () => undefined, true],
    ['seconds', () => '7', true],
    ['zero seconds', () => '0', true],
    ['a date', () => inSeconds(9), true],
    ['a date in the past', () => inSeconds(-9), true],
    ['a negative number', () => '-5', true],
    ['a fraction', () => '1.5', true],
    ['garbage', () => 'soon', true],
    ['nothing', () => '', true],
    ['10^9 seconds', () => '1000000000', false],
    ['a number beyond all numbers', () => '9'.repeat(400), false],
    ['a date far away', () => inSeconds(86_400), false],
  ];

const ends = (code: Code, bearable = true): { once: Ends; always: Ends } => ({
  once: bearable ? 'whole' : code,
  always: code,
});

const overloads = RETRY_AFTER.flatMap(([name, value, bearable]): FaultRow[] => {
  const headers = (): Record<string, string> => {
    const text = value();
    return text === undefined ? {} : { 'retry-after': text };
  };
  return [
    {
      name: `429 with ${name}`,
      strike: (exchange) => envelope(429, { code: 'control.RATE_LIMITED' }, headers())(exchange),
      ...ends('control.RATE_LIMITED', bearable),
      at: name === 'seconds' ? STAGES : A_STAGE_OF_EACH_KIND,
    },
    {
      name: `a bare 503 with ${name}`,
      strike: (exchange) => bare(503, headers())(exchange),
      ...ends('transport.UNREACHABLE', bearable),
      at: name === 'a date' ? STAGES : A_STAGE_OF_EACH_KIND,
    },
  ];
});

/** Answers that say not now. */
export const OVERLOAD_FAULTS: readonly FaultRow[] = [
  ...overloads,
  {
    name: '429 with a wait in the envelope',
    strike: envelope(429, { code: 'control.RATE_LIMITED', retryAfterMs: 700 }),
    ...ends('control.RATE_LIMITED'),
  },
  {
    name: '429 with a wait in the envelope beyond all patience',
    strike: envelope(429, { code: 'control.RATE_LIMITED', retryAfterMs: Number.MAX_SAFE_INTEGER }),
    ...ends('control.RATE_LIMITED', false),
  },
  {
    name: '503 with waits in head and envelope',
    strike: envelope(503, { code: 'control.UNAVAILABLE', retryAfterMs: 900 }, { 'retry-after': '2' }),
    ...ends('control.UNAVAILABLE'),
  },
  {
    name: '503 that says not to come back',
    strike: envelope(503, { code: 'control.UNAVAILABLE', retryable: false }),
    ...ends('control.UNAVAILABLE', false),
  },
  {
    name: '500 that repeats the token in all its texts',
    strike: (exchange) => {
      const { headers, response } = exchange;
      const text = `you said ${headers.authorization}`;
      response.writeHead(500, { 'content-type': 'application/json', 'x-token': headers.authorization ?? '' });
      response.end(
        JSON.stringify({
          code: 'control.INTERNAL',
          message: text,
          correlationId: text,
          retryable: false,
          source: 'platform',
          issues: [{ path: text, code: text, message: text }],
        }),
      );
    },
    ...ends('control.INTERNAL', false),
  },
  {
    name: '503 in gzip',
    strike: bare(503, { 'content-encoding': 'gzip' }),
    ...ends('transport.UNREACHABLE'),
  },
  { name: '408', strike: bare(408), ...ends('transport.RESPONSE_INVALID'), at: A_STAGE_OF_EACH_KIND },
  { name: '425', strike: bare(425), ...ends('transport.RESPONSE_INVALID'), at: A_STAGE_OF_EACH_KIND },
  { name: '500', strike: bare(500), ...ends('transport.RESPONSE_INVALID') },
  { name: '502', strike: bare(502), ...ends('transport.UNREACHABLE') },
  { name: '504', strike: bare(504), ...ends('transport.UNREACHABLE'), at: A_STAGE_OF_EACH_KIND },
  {
    name: '418, which is no word of patience',
    strike: bare(418),
    ...ends('transport.RESPONSE_INVALID', false),
    at: A_STAGE_OF_EACH_KIND,
  },
  {
    name: '500 whose body never ends',
    strike: ({ response }) => {
      response.writeHead(500);
      sendForEver(response);
    },
    ...ends('transport.RESPONSE_INVALID'),
  },
  {
    name: '503 whose body stalls',
    strike: ({ response }) => {
      response.writeHead(503, { 'content-length': 100 });
      response.write('{');
    },
    ...ends('transport.UNREACHABLE'),
    timed: true,
  },
];
