import { sendAnswer, sendForEver, type Exchange, type FaultResponder } from '../proxy.ts';
import { endsAs, makeRows, ONE_OF_EACH_KIND, recoversOr } from './row.ts';

type Locate = (exchange: Exchange) => string;

const redirect =
  (status: number, locate: Locate): FaultResponder =>
  (exchange) =>
    void exchange.response.writeHead(status, { location: locate(exchange) }).end();

const otherPort: Locate = ({ otherOrigin, url }) => `${otherOrigin}${url}`;
const LOCATIONS: readonly (readonly [name: string, locate: Locate])[] = [
  ['another host', ({ otherOrigin, url }) => `${otherOrigin.replace('127.0.0.1', 'localhost')}${url}`],
  ['another scheme', ({ headers, url }) => `https://${headers.host}${url}`],
  ['an address without a scheme', ({ otherOrigin }) => otherOrigin.replace('http:', '')],
  ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
  ['the loopback address of IPv6', ({ headers }) => `http://[::1]:${headers.host?.split(':')[1]}/`],
  ['a file', () => 'file:///etc/passwd'],
  ['a data address', () => 'data:application/json,{}'],
  ['a script', () => 'javascript:1'],
  ['an address with a password', ({ headers, url }) => `http://user:pass@${headers.host}${url}`],
  ['an invalid address', () => 'http://'],
  ['a host whose name is the token', ({ headers }) => `http://${headers.authorization?.slice(7)}.example/`],
];

/** Redirects. Those within the origin lead to the same request, which is answered or redirected once more. */
export const REDIRECT_FAULTS = [
  ...makeRows(endsAs('transport.REDIRECT_REFUSED'), {
    'a redirect to another port': redirect(302, otherPort),
    'a redirect without an address': ({ response }) => void response.writeHead(302).end(),
  }),
  ...makeRows(
    endsAs('transport.REDIRECT_REFUSED', ONE_OF_EACH_KIND),
    Object.fromEntries([
      ...LOCATIONS.map(([name, locate]) => [`a redirect to ${name}`, redirect(302, locate)]),
      ...[301, 303, 307, 308].map((status) => [
        `a redirect of status ${status} to another port`,
        redirect(status, otherPort),
      ]),
    ]),
  ),
  ...makeRows(recoversOr('transport.REDIRECT_REFUSED'), {
    'an endless chain of redirects within the origin': redirect(307, ({ url }) => url),
    'a redirect within the origin with an endless body': ({ response, url }) =>
      sendForEver(response.writeHead(307, { location: url })),
  }),
  ...makeRows(endsAs('whole'), {
    'five redirects within the origin, which are allowed': (exchange) => {
      if (exchange.faults % 6 === 5) sendAnswer(exchange.response, exchange.answer);
      else redirect(302, ({ url }) => url)(exchange);
    },
  }),
];
