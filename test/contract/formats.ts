/** Values that a field accepts and refuses: both boundaries of each range, and the near misses. */
export type Format = {
  readonly accepts: readonly unknown[];
  readonly rejects: readonly unknown[];
  /** The field is tested as one value here; its members have tests of their own. */
  readonly whole?: boolean;
  /** An object of any members. */
  readonly open?: boolean;
};

const MAX = Number.MAX_SAFE_INTEGER;
const x = (length: number): string => 'x'.repeat(length);

export const id = (prefix: string): Format => ({
  accepts: [`${prefix}_${'a'.repeat(12)}`, `${prefix}_${'9'.repeat(32)}`, `${prefix}_0a1b2c3d4e5f6`],
  rejects: [
    ...[x(11), x(33), 'X'.repeat(12), `${x(11)}-`, `${x(12)}\n`].map((body) => `${prefix}_${body}`),
    ` ${prefix}_${x(12)}`,
    '',
    1,
  ],
});

export const chosenId = (prefix: string): Format => ({
  accepts: [`${prefix}_aZ-_09`, `${prefix}_0${'_'.repeat(95)}`],
  rejects: [
    ...['abcde', x(97), '-bcdef', '_bcdef', 'abcde.', 'abcdef\n'].map((body) => `${prefix}_${body}`),
    ` ${prefix}_abcdef`,
    '',
    1,
  ],
});

export const digest: Format = {
  accepts: [`sha256:${'0'.repeat(64)}`, `sha256:${'abcdef0123456789'.repeat(4)}`],
  rejects: [
    ...['', '0'.repeat(63), '0'.repeat(65), 'A'.repeat(64), `${'0'.repeat(64)}\n`].map(
      (hex) => `sha256:${hex}`,
    ),
    `sha512:${'0'.repeat(64)}`,
    0,
  ],
};

export const slug: Format = {
  accepts: ['a', 'checkout-2', 'a_b-c', x(96)],
  rejects: ['', x(97), '1a', '_a', 'A', 'aB', 'a--b', 'a_-b', '-a', 'a-', 'a.b', 'a\n', 1],
};

export const idempotencyKey: Format = {
  accepts: [x(8), x(128), 'aZ09._:-', '--------'],
  rejects: [x(7), x(129), 'with space', 'with/slash', 'umlaut-é', `${x(8)}\n`, '', 12345678],
};

export const localReportId: Format = {
  accepts: ['a', 'Z_-9', x(128), 'lrep_0123456789ab'],
  rejects: ['', x(129), 'a.b', 'a/b', '..', 'a b', 'é', 'a\n', 1],
};

export const decimalBytes: Format = {
  accepts: ['0', '1', '10', '9'.repeat(38)],
  rejects: ['', '00', '01', '-1', '+1', '1.0', '1e3', '0x1', ' 1', '1 ', '1\n', '1'.padEnd(39, '0'), '٣', 1],
};

export const semver: Format = {
  accepts: ['1.2.3', '1.0.0-rc.1+b.-5'],
  rejects: ['', '1.2', '1.2.3.4', '01.2.3', '1.2.3-01', '1.2.3\n', 1],
};

export const revision: Format = {
  accepts: ['0'.repeat(40), 'abcdef0123'.repeat(4)],
  rejects: ['0'.repeat(39), '0'.repeat(41), 'A'.repeat(40), 'g'.repeat(40), '', 0],
};

export const operationKind: Format = {
  accepts: ['session.extend', 'world.time.advance', '0a.b', 'a.bC9_-'],
  rejects: ['session', 'Session.extend', 'a-b.c', 'a_b.c', 'a.B', 'a.9', 'a..b', '.a', 'a.', '', 'a.b\n', 1],
};

/** Text of so many characters, where a character is a code point. */
export const chars = (min: number, max: number): Format => ({
  accepts: [x(min), x(max), '😀'.repeat(min), '😀'.repeat(max), ' '.repeat(max)],
  rejects: [x(min - 1), x(max + 1), '😀'.repeat(max + 1), 1, true, [], {}],
});

export const opaqueId = chars(1, 128);
export const principal = chars(1, 255);
export const seed = chars(1, 20);
/** A value of an enumeration that the specification does not show; `values` are ours. */
export const anyValue = (...values: readonly string[]): Format => {
  const { accepts, rejects } = chars(1, 64);
  return { accepts: [...values, ...accepts], rejects };
};

export const string: Format = { accepts: ['', 'x', x(100_000)], rejects: [1, true, [], {}, null] };
export const nonEmpty: Format = { accepts: ['x', x(5000)], rejects: ['', 1, null] };
export const boolean: Format = { accepts: [true, false], rejects: [0, 1, 'true', null] };

const notIntegers = [1.5, '1', true, null, Number.NaN, Number.POSITIVE_INFINITY];

/** Integers from `min` to `max`. */
export const integers = (min: number, max: number): Format => ({
  accepts: [min, max, min + 1, max - 1],
  rejects: [...notIntegers, min - 1, max + 1],
});

const integerFormat = integers(-MAX, MAX);
/** Any integer; a sample has a time in milliseconds. */
export const integer: Format = { ...integerFormat, accepts: [1_700_000_000_000, ...integerFormat.accepts] };
export const positive = integers(1, MAX);
export const count = integers(0, MAX);

/** Numbers greater than 0, up to `max`. */
export const numbers = (max: number): Format => ({
  accepts: [0.01, max, Number.MIN_VALUE, 1],
  rejects: [0, -0.01, max + 0.01, '1', null, Number.NaN, Number.POSITIVE_INFINITY],
});
export const number: Format = { accepts: [0, 0.5, -0.5, 1e6], rejects: ['1', null, Number.NaN] };

export const oneOf = (...values: readonly (string | number)[]): Format => ({
  accepts: values,
  rejects: ['other', '', ` ${values[0]}`, `${values[0]}\n`, `${values[0]}!`.toUpperCase(), null, 0, true],
});
export const version = oneOf(1);

/** UPPER_SNAKE_CASE after one of the namespaces; `others` are not namespaces. */
export const code = (
  namespaces: readonly string[],
  others: readonly string[],
  { min, max }: { readonly min?: number; readonly max?: number } = {},
): Format => {
  const names = ['_VERSION', 'VERSION_', 'A__B', '9A', 'Version', 'VERSION-X', 'A.B', 'ABC\n', ''];
  const ofLength = (length: number): string => `${namespaces[0]}.`.padEnd(length, 'A');
  return {
    accepts: [
      ...namespaces.flatMap((space) =>
        ['VERSION_MISMATCH', 'ABC', 'HTTP_404_X2'].map((name) => `${space}.${name}`),
      ),
      ...[min, max].flatMap((length) => (length === undefined ? [] : [ofLength(length)])),
    ],
    rejects: [
      ...others.map((space) => `${space}.VERSION_MISMATCH`),
      ...names.map((name) => `${namespaces[0]}.${name}`),
      ...(min === undefined ? [] : [ofLength(min - 1)]),
      ...(max === undefined ? [] : [ofLength(max + 1)]),
      'VERSION',
      1,
      null,
    ],
  };
};

/** A closed object, or an open one of which members are described: its members have rules of their own. */
export const object: Format = { accepts: [], rejects: ['x', 1, [], null] };
export const list: Format = { accepts: [[]], rejects: ['x', 1, {}, null] };
export const listUpTo = (max: number, item: unknown): Format => ({
  accepts: [[], Array.from({ length: max }, () => item)],
  rejects: [Array.from({ length: max + 1 }, () => item), 'x', 1, {}, null],
});
export const openObject: Format = {
  accepts: [{}, { a: { b: [1, null] } }],
  rejects: ['x', 1, [], null],
  open: true,
};
/** Any JSON value, null included. */
export const json: Format = {
  accepts: [null, 0, '', false, [], {}, [{ a: null }]],
  rejects: [],
  whole: true,
};
/** A resource without `schemaVersion`, which is tested elsewhere. */
export const unversioned = (sample: unknown): Format => ({
  accepts: [sample],
  rejects: ['x', 1, [], {}, null],
  whole: true,
});
/** A resource that is tested elsewhere. */
export const resource = (sample: object): Format => ({
  ...unversioned(sample),
  rejects: [...unversioned(sample).rejects, { ...sample, schemaVersion: 2 }],
});
export const pathStep: Format = {
  accepts: ['', 'a', 0, MAX],
  rejects: [-1, 1.5, true, null, {}],
};
