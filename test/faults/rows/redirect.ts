import { A_STAGE_OF_EACH_KIND, type FaultRow } from './row.ts';
import { sendAnswer, sendForEver, type Exchange, type Strike } from '../proxy.ts';

const redirect =
  (status: number, location: (exchange: Exchange) => string): Strike =>
  (exchange) => {
    exchange.response.writeHead(status, { location: location(exchange) });
    exchange.response.end();
  };

const REFUSED = { once: 'transport.REDIRECT_REFUSED', always: 'transport.REDIRECT_REFUSED' } as const;

const AWAY: readonly (readonly [name: string, location: (exchange: Exchange) => string])[] = [
  ['another host', ({ stranger, url }) => `${stranger.replace('127.0.0.1', 'localhost')}${url}`],
  ['another scheme', ({ headers, url }) => `https://${headers.host}${url}`],
  ['an address without a scheme', ({ stranger }) => stranger.replace('http:', '')],
  ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
  ['the loopback of IPv6', ({ headers }) => `http://[::1]:${headers.host?.split(':')[1]}/`],
  ['a file', () => 'file:///etc/passwd'],
  ['an address with a password', ({ headers, url }) => `http://user:pass@${headers.host}${url}`],
  ['nothing that is an address', () => 'http://'],
  ['a host whose name is the token', ({ headers }) => `http://${headers.authorization?.slice(7)}.example/`],
];

/** Redirects. Those within the origin lead to the same request, which is answered or redirected once more. */
export const REDIRECT_FAULTS: readonly FaultRow[] = [
  {
    name: 'a redirect to another port',
    strike: redirect(302, ({ stranger, url }) => `${stranger}${url}`),
    ...REFUSED,
  },
  ...AWAY.map(([name, location]): FaultRow => ({
    name: `a redirect to ${name}`,
    strike: redirect(302, location),
    ...REFUSED,
    at: A_STAGE_OF_EACH_KIND,
  })),
  ...[301, 303, 307, 308].map((status): FaultRow => ({
    name: `a redirect of status ${status} to another port`,
    strike: redirect(status, ({ stranger, url }) => `${stranger}${url}`),
    ...REFUSED,
    at: A_STAGE_OF_EACH_KIND,
  })),
  {
    name: 'a redirect within the origin, without end',
    strike: redirect(307, ({ url }) => url),
    once: 'whole',
    always: 'transport.REDIRECT_REFUSED',
  },
  {
    name: 'a redirect within the origin whose body never ends',
    strike: ({ response, url }) => {
      response.writeHead(307, { location: url });
      sendForEver(response);
    },
    once: 'whole',
    always: 'transport.REDIRECT_REFUSED',
  },
  {
    name: 'five redirects within the origin, which are no fault',
    strike: (exchange) => {
      if (exchange.struck % 6 === 5) sendAnswer(exchange.response, exchange.answer);
      else redirect(302, ({ url }) => url)(exchange);
    },
    once: 'whole',
    always: 'whole',
  },
  {
    name: 'a redirect without an address',
    strike: ({ response }) => {
      response.writeHead(302);
      response.end();
    },
    ...REFUSED,
  },
];
