import type { JsonValue } from '../../../src/bytes/json/parse.ts';
import { concatBytes, sha256Of } from '../../../vectors/make/bytes.ts';
import { T } from '../../../vectors/make/bundle.ts';
import type { Random } from './random.ts';

/** Words that mean something to a verifier, so that an edit can lead past the schema of a document. */
const WORDS = `
  passed failed error inconclusive completed canceled consistent inconsistent complete partial final interaction state
  trajectory evidence run-result log file organization project available deleting export report summary receipt
  sig ES256 P-256 EC verify sign evidence.bundle evidence.export world_inputs urn:drillproof:attestation:export:v1
  urn:drillproof:attestation:evidence:v1 text/plain text/plain;charset=utf-8 text objects/log.txt objects/LOG.TXT
  objects/../log.txt objects/nul.txt objects/a\\b objects/log.txt/x prj_000000000002 org_000000000002 000 0 1000 01 1e3
  run_vector1 run_vector2 evidence_000000000002 hrun_000000000001 https://drills.example 7 -1 18446744073709551616
`
  .trim()
  .split(/\s+/) as [string, ...string[]];

/** Words of which a verifier expects any one. */
const ALTERNATIVES: readonly (readonly [string, ...string[]])[] = [
  ['passed', 'failed', 'inconclusive', 'error', 'unheard'],
  ['completed', 'failed'],
  ['complete', 'partial'],
  ['consistent', 'inconsistent'],
  ['interaction', 'final'],
  ['log', 'file', 'evidence', 'screenshot'],
  ['always', 'never'],
];

const MEMBERS = [
  'extra',
  '$schema',
  'rerunOfHostedRunId',
  'role',
  'ext',
  'key_ops',
  'd',
  'x5c',
  'notAfterMs',
] as const;

type Holder = Record<string | number, JsonValue>;
type Place = { readonly holder: Holder; readonly key: string | number };

const isHolder = (value: JsonValue | undefined): value is Holder & JsonValue =>
  typeof value === 'object' && value !== null;

const keysOf = (holder: Holder): (string | number)[] =>
  Array.isArray(holder) ? holder.map((_, i) => i) : Object.keys(holder);

/** Every member and item below a value. */
const listPlaces = (holder: Holder): Place[] =>
  keysOf(holder).flatMap((key) => {
    const value = holder[key];
    return [{ holder, key }, ...(isHolder(value) ? listPlaces(value) : [])];
  });

const NUMBERS = [0, 1, 2, -1, 0.5, T, T - 1, T + 1, 2 ** 53, 2 ** 53 - 1, 1e21, 63, 64, 65] as const;

function editText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  return random.pick<() => string>([
    () => random.pick(WORDS),
    () => text.slice(0, at) + text.slice(at + 1),
    () =>
      text.slice(0, at) +
      random.pick(['0', 'a', 'A', ' ', '/', '.', '\u0000', 'é', 'e\u0301', '\u{1f600}']) +
      text.slice(at),
    () => text.slice(0, at) + random.pick(['0', 'f', 'Z']) + text.slice(at + 1),
    () => text.toUpperCase(),
    () => '',
    () => text.repeat(random.pick([2, 20])),
    () => sha256Of(text),
  ])();
}

const findAlternatives = (value: JsonValue) =>
  ALTERNATIVES.find((list) => typeof value === 'string' && list.includes(value));

/** Another scalar, near the old one or of another type. */
export function editScalar(random: Random, value: JsonValue): JsonValue {
  const words = findAlternatives(value);
  if (words && !random.once(4)) return random.pick(words);
  if (typeof value === 'string') return editText(random, value);
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'number') return random.pick<JsonValue>([0, '', true, {}, []]);
  return random.pick([value + 1, value - 1, -value, String(value), random.pick(NUMBERS)]);
}

/** Adds a member to an object, or an item to an array. */
function insert(random: Random, holder: Holder, value: JsonValue): void {
  if (Array.isArray(holder)) (holder as JsonValue[]).splice(random.below(holder.length + 1), 0, value);
  else holder[random.pick(MEMBERS)] = value;
}

function remove({ holder, key }: Place): void {
  if (Array.isArray(holder)) (holder as JsonValue[]).splice(Number(key), 1);
  else delete holder[key];
}

/** The value after one edit anywhere below it. */
export function editValue<V extends JsonValue>(random: Random, value: V): V {
  const root = structuredClone(value);
  if (!isHolder(root)) return root;
  const places = listPlaces(root);
  const place = random.choose(places);
  const other = random.choose(places);
  if (place === undefined || other === undefined) {
    insert(random, root, 0);
    return root;
  }
  const { holder, key } = place;
  const old = holder[key]!;
  const replace = () => {
    holder[key] = editScalar(random, old);
  };
  const copy = structuredClone(other.holder[other.key]!);
  random.pick([
    replace,
    replace,
    replace,
    replace,
    () => remove(place),
    () => insert(random, isHolder(old) ? old : holder, copy),
    () => insert(random, holder, structuredClone(old)),
    () => {
      holder[key] = copy;
    },
    () => {
      other.holder[other.key] = structuredClone(old); // it can be inside the old one
      holder[key] = copy;
    },
    () => {
      holder[key] = random.pick<JsonValue>([null, [], {}, 0, '', false, [copy]]);
    },
  ])();
  return root;
}

/** The value after one of its words was exchanged for another that it could have. */
export function editWord<V extends JsonValue>(random: Random, value: V): V {
  const root = structuredClone(value);
  if (!isHolder(root)) return root;
  const words = listPlaces(root).flatMap(({ holder, key }) => {
    const list = findAlternatives(holder[key]!);
    return list === undefined ? [] : [{ holder, key, list }];
  });
  const place = random.choose(words);
  if (place) place.holder[place.key] = random.pick(place.list);
  return root;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

const escape = (unit: string): string => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Other forms of a token, some with the same value and some broken. */
function respell(random: Random, token: string): string {
  const space = random.pick([' ', '\n', '\t', '\r', '\u00a0', '\f', '/**/', ',']);
  const spaced = () => random.pick([space + token, token + space]);
  if (token.startsWith('"')) {
    const at = 1 + random.below(token.length - 2);
    const put = (text: string) => () => token.slice(0, at) + text + token.slice(at);
    return random.pick([
      spaced,
      () => token.slice(0, at) + escape(token[at]!) + token.slice(at + 1),
      () => token.slice(0, at) + escape(token[at]!).toUpperCase() + token.slice(at + 1),
      put(
        random.pick([
          String.raw`\/`,
          String.raw`\ud800`,
          String.raw`\ud83d\ude00`,
          String.raw`\x41`,
          '\u0001',
          '\u007f',
        ]),
      ),
      () => token.slice(1, -1),
      () => token.replaceAll('"', "'"),
    ])();
  }
  if (/\d/.test(token)) {
    const forms = [
      `${token}.0`,
      `${token}e0`,
      `${token}E+0`,
      `${token}0e-1`,
      `+${token}`,
      `0${token}`,
      `-${token}`,
      `"${token}"`,
    ];
    return random.pick([spaced(), `${token}.`, `${token}.00000000000000000001`, `${token}e400`, ...forms]);
  }
  if (/[a-z]/.test(token)) return random.pick([spaced(), token.toUpperCase(), `"${token}"`, 'NaN', '0']);
  return random.pick([spaced(), spaced(), spaced(), '', token + token]);
}

/** Repeats the first member of an object, with another value. */
const repeatMember = (random: Random, text: string): string =>
  text.replace(/\{("(?:[^"\\]|\\.)*")/g, (whole, name: string) =>
    random.once(3)
      ? `{${random.pick([name, `"${escape(name[1] ?? 'a')}${name.slice(2)}`])}:${random.pick(['0', 'null', '{}'])},${name}`
      : whole,
  );

const reversed = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, item]) => [name, reversed(item ?? null)]),
  );
};

const reformat = (random: Random, text: string): string => {
  try {
    const value = JSON.parse(text) as JsonValue;
    return random.pick([
      JSON.stringify(value, null, 2),
      JSON.stringify(reversed(value)),
      JSON.stringify([value]),
    ]);
  } catch {
    return text;
  }
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The bytes of a document after one edit of its text. */
export function editDocument(random: Random, bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const count = text.match(TOKEN)?.length ?? 0;
  const chosen = random.below(count);
  let seen = 0;
  const spell = () =>
    encode(text.replace(TOKEN, (token) => (seen++ === chosen ? respell(random, token) : token)));
  return random.pick([
    spell,
    spell,
    spell,
    spell,
    () => encode(repeatMember(random, text)),
    () => encode(reformat(random, text)),
    () => encode(random.pick([`\ufeff${text}`, `${text}\n`, ` ${text}`, `${text}${text}`, `${text}\0`, ''])),
    () => encode(text.replace(/\}$/, `,"deep":${'['.repeat(random.pick([62, 63, 64]))}${']'.repeat(62)}}`)),
    () => editBytes(random, bytes),
  ])();
}

/** Bytes after one edit without regard to their meaning. */
export function editBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random.below(bytes.length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  return random.pick([
    () => {
      const copy = Uint8Array.from(bytes);
      copy[at]! ^= 1 << random.below(8);
      return copy;
    },
    () => concatBytes(before, Uint8Array.of(random.below(256)), after),
    () => concatBytes(before, after.subarray(1 + random.below(4))),
    () =>
      concatBytes(
        bytes,
        Uint8Array.from({ length: 1 + random.below(30) }, () => random.below(256)),
      ),
    () => concatBytes(before, bytes.subarray(random.below(at), at), after),
    () => before,
  ])();
}
