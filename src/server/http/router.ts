/** What answers a method and a path; in the template of a path, `{name}` is a parameter. */
export type Route<T> = { readonly method: string; readonly path: string; readonly target: T };

type Params = Record<string, string>;
type Segment = { readonly text: string; readonly name: string | undefined };

const NAME = /^\{([A-Za-z]+)\}$/;

const segmentsOf = (path: string): Segment[] =>
  path.split('/').map((text) => ({ text, name: NAME.exec(text)?.[1] }));

/** The segments of a path; one whose encoding is invalid stays as it is, and no resource has such a name. */
const decodePath = (path: string): string[] =>
  path.includes('%') ? path.split('/').map(decodeSegment) : path.split('/');

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function matchSegments(template: readonly Segment[], path: readonly string[]): Params | undefined {
  if (template.length !== path.length) return undefined;
  const params: Params = {};
  for (let at = 0; at < template.length; at++) {
    const { text, name } = template[at]!;
    const value = path[at]!;
    if (name === undefined ? value !== text : value === '') return undefined;
    if (name !== undefined) params[name] = value;
  }
  return params;
}

/** Finds the route of a request and its decoded parameters; a HEAD has the route of a GET. */
export function createRouter<T>(
  routes: readonly Route<T>[],
): (method: string, path: string) => { readonly target: T; readonly params: Params } | undefined {
  const templates = routes.map(({ path, ...route }) => ({ ...route, segments: segmentsOf(path) }));
  return (method, path) => {
    const served = method === 'HEAD' ? 'GET' : method;
    const given = decodePath(path);
    for (const route of templates) {
      const params = route.method === served ? matchSegments(route.segments, given) : undefined;
      if (params !== undefined) return { target: route.target, params };
    }
    return undefined;
  };
}
