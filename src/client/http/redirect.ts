import { TransportError } from '../../errors.ts';

const FOLLOWED = new Set([301, 302, 303, 307, 308]);
// These two keep method and body (RFC 9110 §15.4.8, §15.4.9); the others let an unsafe method turn into GET.
const KEEPS_METHOD = new Set([307, 308]);

/**
 * The address to which an answer redirects, or `undefined` when it is no redirect. Only an address of the same
 * scheme, host and port is given back, so that the credential never reaches another origin. What the message says of
 * another one is without the token, should the server have put it there.
 * @throws TransportError `transport.REDIRECT_REFUSED`
 */
export function redirectTarget(
  response: Response,
  from: URL,
  { method, token }: { readonly method: string; readonly token: string },
): URL | undefined {
  // A browser hides where a redirect leads, so it cannot be judged.
  if (response.type === 'opaqueredirect') throw refused('the address it leads to is hidden here');
  if (!FOLLOWED.has(response.status)) return undefined;
  if (method !== 'GET' && !KEEPS_METHOD.has(response.status)) {
    throw refused(`status ${response.status} would turn ${method} into GET`);
  }
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, from)) throw refused('it names no address');
  const to = new URL(location, from);
  if (to.origin !== from.origin) throw refused(whyForeign(from, to, token));
  if (to.username !== '' || to.password !== '') throw refused('the address holds a user name or password');
  return to;
}

export const tooManyRedirects = (limit: number): TransportError =>
  refused(`more than ${limit} redirects follow one another`);

function whyForeign(from: URL, to: URL, token: string): string {
  if (from.protocol === 'https:' && to.protocol === 'http:') return 'it leads from https to http';
  // The parser of addresses writes a host in lower case.
  const host = to.host.replaceAll(token.toLowerCase(), '[token]');
  return `it leads to another origin, ${to.protocol}//${host}`;
}

const refused = (why: string): TransportError =>
  new TransportError('transport.REDIRECT_REFUSED', `the redirect is not followed: ${why}`);
