import { sendAnswer, sendForEver, type Exchange, type FaultResponder } from '../proxy.ts';
import { endsAs, makeRows, ONE_OF_EACH_KIND, recoversOr } from './row.ts';

type Locate = (exchange: Exchange) => string;

const redirect =
  (status: number, locate: Locate): FaultResponder =>
  (exchange) =>
    void exchange.response.writeHead(status, { location: locate(exchange) }).end();

const otherPort: Locate = ({ otherOrigin, url }) => `${otherOrigin}${url}`;
const REFUSED = endsAs('transport.REDIRECT_REFUSED');

const LOCATIONS: readonly (readonly [name: string, locate: Locate])[] = [
  ['another host', ({ otherOrigin, url }) => `${otherOrigin.replace('127.0.0.1', 'localhost')}${url}`],
  ['another scheme', ({ headers, url }) => `https://${headers.host}${url}`],
  ['an address without a scheme', ({ otherOrigin }) => otherOrigin.replace('http:', '')],
  ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
  ['the loopback address of IPv6', ({ headers }) => `http://[::1]:${headers.host?.split(':')[1]}/`],
  ['a file', () => 'file:///etc/passwd'],
  ['an address with a password', ({ headers, url }) => `http://user:pass@${headers.host}${url}`],
  ['an invalid address', () => 'http://'],
  ['a host whose name is the token', ({ headers }) => `http://${headers.authorization?.slice(7)}.example/`],
];

/** Redirects. Those within the origin lead to the same request, which is answered or redirected once more. */
export const REDIRECT_FAULTS = makeRows([
  ['a redirect to another port', redirect(302, otherPort), REFUSED],
  ...LOCATIONS.map(
    ([name, locate]) =>
      [`a redirect to ${name}`, redirect(302, locate), { ...REFUSED, ...ONE_OF_EACH_KIND }] as const,
  ),
  ...[301, 303, 307, 308].map(
    (status) =>
      [
        `a redirect of status ${status} to another port`,
        redirect(status, otherPort),
        { ...REFUSED, ...ONE_OF_EACH_KIND },
      ] as const,
  ),
  [
    'an endless chain of redirects within the origin',
    redirect(307, ({ url }) => url),
    recoversOr('transport.REDIRECT_REFUSED'),
  ],
  [
    'a redirect within the origin with an endless body',
    ({ response, url }) => {
      response.writeHead(307, { location: url });
      sendForEver(response);
    },
    recoversOr('transport.REDIRECT_REFUSED'),
  ],
  [
    'five redirects within the origin, which are allowed',
    (exchange) => {
      if (exchange.faults % 6 === 5) sendAnswer(exchange.response, exchange.answer);
      else redirect(302, ({ url }) => url)(exchange);
    },
    endsAs('whole'),
  ],
  ['a redirect without an address', ({ response }) => void response.writeHead(302).end(), REFUSED],
]);
