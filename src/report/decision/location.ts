import type { Decision } from '../../policy/index.ts';
import type { Reason } from './reasons.ts';

/** The file that a reason is about: a part or document inside its input, or the policy if there is no input. */
export type Place = { readonly root: string; readonly inside?: string };

export function fileOf(decision: Decision, violated: Pick<Reason, 'at' | 'path'>): Place | undefined {
  const root = violated.at === undefined ? undefined : decision.inputs[violated.at]?.name;
  if (root === undefined) {
    const policy = decision.policy.sources.at(-1); // what it extends comes before it
    return policy === undefined ? undefined : { root: policy.path };
  }
  // After # comes a place inside the file, such as a JSON pointer.
  const [inside = ''] = (violated.path ?? '').split('#');
  return inside === '' || inside === root ? { root } : { root, inside };
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:\/\//;

/** The place as a URI reference (RFC 3986): relative for a relative path, each segment percent-encoded. */
export function uriOf({ root, inside }: Place): string {
  const tail = inside === undefined ? '' : `/${segments(inside, true)}`;
  return `${rootUri(root).replace(/\/+$/, '')}${tail}`;
}

function rootUri(root: string): string {
  const scheme = SCHEME.exec(root)?.[0];
  if (scheme !== undefined)
    return `${scheme}${encodeURI(root.slice(scheme.length).toWellFormed()).replace(/[?#[\]]/g, encodeURIComponent)}`;
  if (root.startsWith('/')) return `file://${segments(root, false)}`;
  return segments(root.replace(/^(\.\/+)+(?=.)/, ''), false) || '.';
}

/** A path in the evidence must stay inside its input; a path of the caller may contain `..`. */
const segments = (path: string, confined: boolean): string =>
  path
    .split('/')
    .map((segment) =>
      confined && /^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%2E') : encode(segment),
    )
    .join('/');

const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The place as a path for people and for tools that want paths, not URIs; never empty. */
export const pathOf = ({ root, inside }: Place): string => {
  const base = root === '' ? '.' : root.replace(/^(\.\/+)+(?=.)/, '');
  return inside === undefined ? base : `${base.replace(/\/+$/, '')}/${inside}`;
};
