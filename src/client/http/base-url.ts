import { DrillproofError } from '../../errors.ts';

const SCHEMES = new Set(['http:', 'https:']);

const RULES: readonly (readonly [(url: URL, text: string) => boolean, string])[] = [
  [(url) => !SCHEMES.has(url.protocol), 'its scheme is not http or https'],
  [(url) => url.username !== '' || url.password !== '', 'it holds a user name or password'],
  [(_, text) => text.includes('?'), 'it has a query'],
  [(_, text) => text.includes('#'), 'it has a fragment'],
];

/**
 * The base address of a control plane, up to but not including `/v1`, without a slash at its end.
 * The address itself is kept out of the message: it may hold a password.
 * @throws DrillproofError `client.BASE_URL_INVALID`
 */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalid('it is not an absolute address');
  for (const [broken, why] of RULES) if (broken(url, text)) throw invalid(why);
  return url.href.replace(/\/+$/, '');
}

const invalid = (why: string): DrillproofError =>
  new DrillproofError('client.BASE_URL_INVALID', `the base address cannot be used: ${why}`);
