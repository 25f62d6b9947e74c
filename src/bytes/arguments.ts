import { didYouMean } from './text/wording.ts';

/**
 * The kind of an argument: the words of the error, the test, and the members that an object may have. It accepts the values of
 * the type `T`.
 */
export type Kind<T = never> = {
  readonly what: string;
  readonly accepts: (value: unknown) => boolean;
  readonly members?: Members;
  /** The kind of each item of an array, or of each member of an object. */
  readonly items?: Kind;
  /** It may have other members too. */
  readonly open?: boolean;
  readonly optional?: boolean;
  /** For the compiler only. */
  readonly takes?: (value: T) => void;
};
type Optional<T> = Kind<T> & { readonly optional: true };

/** The kinds of arguments or members, by name. */
export type Members = Readonly<Record<string, Kind>>;

/** A kind for each member of a type: one that is forgotten, or is of another type, does not compile. */
export type MembersOf<T> = {
  readonly [K in keyof T]-?: {} extends Pick<T, K> ? Optional<Exclude<T[K], undefined>> : Kind<T[K]>;
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isPlain = (value: unknown): boolean =>
  isObject(value) && !Array.isArray(value) && !ArrayBuffer.isView(value);

export const BYTES: Kind<Uint8Array> = {
  what: 'a Uint8Array',
  accepts: (value) => value instanceof Uint8Array,
};
export const TEXT: Kind<string> = { what: 'a string', accepts: (value) => typeof value === 'string' };
export const PATH: Kind<string> = {
  what: 'a path',
  accepts: (value) => typeof value === 'string' && value !== '',
};
export const BYTES_OR_TEXT: Kind<string | Uint8Array> = {
  what: 'a string or a Uint8Array',
  accepts: (value) => TEXT.accepts(value) || BYTES.accepts(value),
};
export const FLAG: Kind<boolean> = { what: 'true or false', accepts: (value) => typeof value === 'boolean' };
export const LIST: Kind<readonly unknown[]> = { what: 'an array', accepts: Array.isArray };
export const FUNCTION: Kind<(...args: never[]) => unknown> = {
  what: 'a function',
  accepts: (value) => typeof value === 'function',
};
export const OBJECT: Kind<object> = { what: 'an object', accepts: isPlain };
export const SIGNAL: Kind<AbortSignal> = {
  what: 'an AbortSignal',
  accepts: (value) => value instanceof AbortSignal,
};
export const COUNT: Kind<number> = {
  what: 'a whole number of at least 1',
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
};
/** A limit or a length of time. `Infinity` means no limit. */
export const AMOUNT: Kind<number> = {
  what: 'a number of at least 0',
  accepts: (value) => typeof value === 'number' && value >= 0,
};
export const TIME: Kind<number | Date> = {
  what: 'a Date or a whole number of milliseconds since 1970',
  accepts: (value) => Number.isSafeInteger(value instanceof Date ? value.getTime() : value),
};

export const optional = <T>(kind: Kind<T>): Optional<T> => ({ ...kind, optional: true });

export const oneOf = <T extends string>(values: readonly T[]): Kind<T> => ({
  what: `one of ${values.join(', ')}`,
  accepts: (value) => values.some((each) => each === value),
});

export const listOf = <T>(kind: Kind<T>): Kind<readonly T[]> => ({
  what: `an array, each item ${kind.what}`,
  accepts: Array.isArray,
  items: kind,
});

/** An object whose members may have any names. */
export const recordOf = (kind: Kind): Kind<object> => ({
  ...OBJECT,
  what: `an object, each member ${kind.what}`,
  items: kind,
});

export const ITERABLE: Kind<object> = {
  what: 'an iterable',
  accepts: (value) => isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value),
};

/** An object with at least these methods. */
export const withMethods = (what: string, ...names: readonly string[]): Kind<object> => ({
  what: `${what} with ${names.map((name) => `${name}()`).join(' and ')}`,
  accepts: (value) =>
    isObject(value) && names.every((name) => typeof Reflect.get(value, name) === 'function'),
});

/** An object with at least these members. */
export const withMembers = (what: string, members: Members): Kind<object> => ({
  ...OBJECT,
  what,
  members,
  open: true,
});

/** An object with no other members. */
export const optionsOf = (members: Members): Kind<object> => ({ ...OBJECT, members });

/** An object of amounts, all of them optional, with no other members than `defaults`. */
export const amountsOf = (defaults: object): Kind<object> =>
  optionsOf(Object.fromEntries(Object.keys(defaults).map((name) => [name, optional(AMOUNT)])));

/**
 * Checks the arguments of a public function.
 * @throws TypeError that names the first argument, or member of one, that is not of its kind
 */
export function checkArguments(kinds: Members, values: Readonly<Record<string, unknown>>): void {
  for (const name in kinds) {
    const fault = findFault(values[name], kinds[name]!);
    if (fault !== undefined) throw new TypeError(`${name}${fault}`);
  }
}

/** The rest of the path to the first value that is not of its kind, and what is wrong with it. */
function findFault(value: unknown, kind: Kind): string | undefined {
  if (value === undefined && kind.optional === true) return undefined;
  if (!kind.accepts(value)) return ` is ${describe(value)}. Pass ${kind.what}.`;
  if (!isObject(value)) return undefined;
  if (kind.items !== undefined)
    for (const [name, item] of Object.entries(value)) {
      const fault = findFault(item, kind.items);
      if (fault !== undefined) return `[${Array.isArray(value) ? name : JSON.stringify(name)}]${fault}`;
    }
  if (kind.members === undefined) return undefined;
  const unknown = kind.open === true ? undefined : findUnknown(value, kind.members);
  if (unknown !== undefined) {
    const names = Object.keys(kind.members);
    const advice = didYouMean(unknown, names) ?? `Pass only ${names.join(', ')}.`;
    return ` has the unknown member ${JSON.stringify(unknown)}. ${advice}`;
  }
  for (const name in kind.members) {
    const fault = findFault(Reflect.get(value, name), kind.members[name]!);
    if (fault !== undefined) return `.${name}${fault}`;
  }
  return undefined;
}

const findUnknown = (value: object, members: Members): string | undefined =>
  Object.keys(value).find((name) => !Object.hasOwn(members, name));

/** Describes a value in a few words, without calling its methods. */
function describe(value: unknown): string {
  if (typeof value === 'string') return value.length > 40 ? 'another string' : JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  if (Array.isArray(value)) return 'an array';
  return isObject(value) ? 'an object of another kind' : String(value);
}

/** An object without the members whose value may be `undefined`: these become optional. */
export type Defined<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

const isPresent = ([, value]: readonly [name: string, value: unknown]): boolean => value !== undefined;

/**
 * An object without the members that are `undefined`, as `exactOptionalPropertyTypes` requires. It is the same object if
 * there are none, so pass a new one. Adding members one by one would take four times the memory.
 */
export function defined<T extends object>(members: T): Defined<T> {
  for (const name in members)
    if (members[name] === undefined)
      return Object.fromEntries(Object.entries(members).filter(isPresent)) as Defined<T>;
  return members;
}
