import type * as z from 'zod/mini';
import type {
  BytesOperationName,
  CallableName,
  JsonOperationName,
  OperationName,
  operations,
  Params,
  Result,
} from '../contract/operations/operations.ts';
import type { CallOptions } from './options.ts';
import type { Download, DownloadOptions } from './http/download.ts';

type Rows = typeof operations;

// A caller may omit the members for which a schema fills in defaults.
type Optional<S extends z.ZodMiniType> = {
  [K in keyof z.infer<S>]: K extends keyof z.input<S> ? (undefined extends z.input<S>[K] ? K : never) : never;
}[keyof z.infer<S>];
type WithDefaults<S extends z.ZodMiniType> = Omit<z.infer<S>, Optional<S>> &
  Partial<Pick<z.infer<S>, Optional<S>>>;

type QueryInput<N extends OperationName> = Rows[N] extends { query: infer S extends z.ZodMiniType }
  ? WithDefaults<S>
  : unknown;
type BodyInput<N extends OperationName> = Rows[N] extends { body: infer S extends z.ZodMiniType }
  ? z.input<S> extends Record<string, never>
    ? unknown // the empty object, which needs no members of its own
    : z.input<S>
  : unknown;

/** The input of an operation: the members of its path, its query and its body in one object. */
export type Input<N extends OperationName> = Params<N> & QueryInput<N> & BodyInput<N>;

type Method<N extends string> = N extends JsonOperationName
  ? (input: Input<N>, options?: CallOptions) => Promise<Result<N>>
  : N extends BytesOperationName
    ? (input: Input<N>, options?: DownloadOptions) => Promise<Download>
    : unknown;

type Head<T extends string> = T extends `${infer H}.${string}` ? H : T;
type Below<Prefix extends string> = CallableName extends infer N
  ? N extends `${Prefix}.${infer Rest}`
    ? Head<Rest>
    : never
  : never;
type Tree<Prefix extends string> = Method<Prefix> & { readonly [S in Below<Prefix>]: Tree<`${Prefix}.${S}`> };

/** One method for each callable row of the table, under its name split on dots: `client.evidence.exports.read(…)`. */
export type Methods = { readonly [H in Head<CallableName>]: Tree<H> };

type AnyMethod = (input: object, options?: object) => Promise<unknown>;
type Branch = { [segment: string]: Branch } | (AnyMethod & { [segment: string]: Branch });

/**
 * The tree of methods. A name that continues another one (`…localReports` and `…localReports.archive`) makes a
 * method that has methods.
 */
export function buildMethodTree(
  names: readonly CallableName[],
  method: (name: CallableName) => AnyMethod,
): object {
  const root: Branch = {};
  for (const name of names.toSorted()) {
    const segments = name.split('.');
    const last = segments.pop() ?? name;
    let branch: Branch = root;
    for (const segment of segments) branch = branch[segment] ??= {};
    branch[last] = Object.assign(method(name), branch[last]);
  }
  return root;
}
