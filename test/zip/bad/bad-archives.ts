import { crc32, deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import {
  bytesOf,
  end64,
  extraField,
  join,
  le,
  type RawEnd,
  type RawEnd64,
  type RawEntry,
} from '../raw-zip.ts';

/** A sound archive as a model: entries in one of the forms that tools write, and end records. */
export type Model = { readonly entries: readonly RawEntry[]; readonly end: RawEnd };

type Mutation = (model: Model) => Model;

const WIDE = 0xff_ff_ff_ff;
const numbers = (...values: readonly number[]): Uint8Array =>
  extraField(1, join(...values.map((value) => le(value, 8))));

type Form = 'usual' | 'wide' | 'streamed' | 'signed' | 'wideStreamed' | 'dated';

function formed(name: string, plain: Uint8Array, method: number, form: Form): RawEntry {
  const compressed = method === 8 ? deflateRawSync(plain).length : plain.length;
  const usual: RawEntry = { name, plain, method };
  const streamed: RawEntry = { ...usual, flags: 0x0808, local: { crc: 0, compressed: 0, size: 0 } };
  const wide: RawEntry = {
    ...usual,
    both: { version: 45, size: WIDE, compressed: WIDE },
    extra: numbers(plain.length, compressed),
    localExtra: numbers(plain.length, compressed),
  };
  const signature = le(0x08074b50, 4);
  const after = (width: number) => join(le(crc32(plain), 4), le(compressed, width), le(plain.length, width));
  const stamp = extraField(0x5455, join(le(1, 1), le(1_700_000_000, 4)));
  const forms: Readonly<Record<Form, RawEntry>> = {
    usual,
    wide,
    streamed: { ...streamed, after: after(4) },
    signed: { ...streamed, after: join(signature, after(4)) },
    wideStreamed: { ...wide, flags: 0x0808, after: join(signature, after(8)) },
    dated: { ...usual, both: { time: 0x7d1c, date: 0x5c75 }, extra: stamp, localExtra: stamp },
  };
  return forms[form];
}

const contents = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.nat(2_000).map((times) => bytesOf('abc'.repeat(times))),
);

const FORMS = ['usual', 'wide', 'streamed', 'signed', 'wideStreamed', 'dated'] as const;

const models: fc.Arbitrary<Model> = fc
  .record({
    entries: fc.uniqueArray(
      fc
        .tuple(
          fc.constantFrom('manifest.json', 'objects/a', 'objects/b.txt', 'größe', 'c'),
          contents,
          fc.constantFrom(0, 8),
          fc.constantFrom(...FORMS),
        )
        .map(([name, plain, method, form]) => formed(name, plain, method, form)),
      // 7-Zip does not open an archive that has ZIP64 end records and no entry.
      { minLength: 1, maxLength: 4, selector: ({ name }) => name },
    ),
    zip64: fc.boolean(),
  })
  .map(({ entries, zip64 }) => ({
    entries,
    end: zip64 ? { before: (place) => end64(place), entries: 0xffff, bytes: WIDE, offset: WIDE } : {},
  }));

/** Numbers with a meaning somewhere: methods, flags, versions, boundaries, and any. */
const values = fc.oneof(
  fc.constantFrom(0, 1, 8, 9, 10, 20, 45, 46, 99, 0x0800, 0x0801, 0x0808, 0xffff, WIDE - 1, WIDE),
  fc.nat(0xffff),
);

const HEADER = ['version', 'flags', 'method', 'time', 'date', 'crc', 'compressed', 'size'] as const;
const LOCAL = [...HEADER, 'signature', 'nameLength', 'extraLength'] as const;
const CENTRAL = [...LOCAL, 'madeBy', 'commentLength', 'disk', 'internal', 'external', 'offset'] as const;
const END = [
  'disk',
  'directoryDisk',
  'entriesOnDisk',
  'entries',
  'bytes',
  'offset',
  'commentLength',
] as const;
const END64 = [
  'remaining',
  'version',
  'disk',
  'entriesOnDisk',
  'entries',
  'bytes',
  'offset',
  'locatorDisk',
  'locatorOffset',
  'disks',
] as const;

const onEntry =
  (at: number, change: (entry: RawEntry) => RawEntry): Mutation =>
  ({ entries, end }) => ({
    entries: entries.map((one, i) => (i === at % entries.length ? change(one) : one)),
    end,
  });

const junk = fc.oneof(
  fc.uint8Array({ maxLength: 24 }),
  fc.constantFrom(0x04034b50, 0x02014b50, 0x06054b50, 0x08074b50).map((signature) => le(signature, 4)),
);

const blocks = fc.oneof(
  junk,
  fc
    .tuple(
      fc.constantFrom(0x0001, 0x7075, 0x5455, 0x9901, 0x6375, 0x756e, 0xcafe),
      fc.uint8Array({ maxLength: 28 }),
    )
    .map(([id, data]) => extraField(id, data)),
  fc
    .tuple(fc.constantFrom('c', 'objects/a', 'other'))
    .map(([name]) => extraField(0x7075, join(le(1, 1), le(crc32(name), 4), bytesOf(name)))),
);

const NAMES = [
  'manifest.json',
  'OBJECTS/A',
  '../a',
  '/a',
  'C:/a',
  'a\\b',
  'a/',
  'NUL',
  'a\0b',
  'u\u0308',
] as const;

const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  fc
    .tuple(fc.nat(), fc.constantFrom(...HEADER), values)
    .map(([at, field, value]) =>
      onEntry(at, (entry) => ({ ...entry, both: { ...entry.both, [field]: value } })),
    ),
  fc
    .tuple(fc.nat(), fc.constantFrom(...LOCAL), values)
    .map(([at, field, value]) =>
      onEntry(at, (entry) => ({ ...entry, local: { ...entry.local, [field]: value } })),
    ),
  fc
    .tuple(fc.nat(), fc.constantFrom(...CENTRAL), values)
    .map(([at, field, value]) =>
      onEntry(at, (entry) => ({ ...entry, central: { ...entry.central, [field]: value } })),
    ),
  fc
    .tuple(fc.nat(), fc.constantFrom('before', 'after', 'data', 'comment'), junk)
    .map(([at, where, bytes]) => onEntry(at, (entry) => ({ ...entry, [where]: bytes }))),
  fc
    .tuple(fc.nat(), fc.constantFrom('extra', 'localExtra'), blocks, fc.boolean())
    .map(([at, where, block, add]) =>
      onEntry(at, (entry) => ({ ...entry, [where]: add ? join(entry[where] ?? le(0, 0), block) : block })),
    ),
  fc
    .tuple(fc.nat(), fc.constantFrom('name', 'localName'), fc.constantFrom(...NAMES))
    .map(([at, which, name]) => onEntry(at, (entry) => ({ ...entry, [which]: name }))),
  fc.nat().map((at): Mutation => ({ entries, end }) => {
    const one = entries[at % Math.max(1, entries.length)];
    return { entries: one === undefined ? entries : [...entries, one], end };
  }),
  fc.tuple(fc.constantFrom(...END), values).map(([field, value]): Mutation => ({ entries, end }) => ({
    entries,
    end: { ...end, [field]: value },
  })),
  fc
    .tuple(fc.constantFrom('prefix', 'suffix', 'comment'), junk)
    .map(([where, bytes]): Mutation => ({ entries, end }) => ({ entries, end: { ...end, [where]: bytes } })),
  fc.tuple(fc.constantFrom(...END64), values).map(([field, value]): Mutation => {
    const wrong: RawEnd64 = { [field]: value };
    return ({ entries, end }) => ({ entries, end: { ...end, before: (place) => end64(place, wrong) } });
  }),
  fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }).map((order): Mutation => ({ entries, end }) => ({
    entries,
    end: { ...end, order: order.map((i) => i % Math.max(1, entries.length)) },
  })),
);

/** A sound archive with up to three things wrong with it, which may well agree with each other. */
export const badArchives: fc.Arbitrary<Model> = fc
  .tuple(models, fc.array(mutations, { maxLength: 3 }))
  .map(([model, all]) => all.reduce((changed, mutate) => mutate(changed), model));
