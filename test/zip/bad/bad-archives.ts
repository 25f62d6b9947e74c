import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import {
  bytesOf,
  end64,
  extraField,
  FIELDS,
  FORMS,
  IN_ZIP64,
  join,
  le,
  makeEntry,
  zip64End,
  type RawEnd,
  type RawEntry,
} from '../raw-zip.ts';

/** The model of an archive: entries in one of the forms that tools write, and end records. */
export type Model = { readonly entries: readonly RawEntry[]; readonly end: RawEnd };

type Mutation = (model: Model) => Model;

const contents = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.nat(2_000).map((times) => bytesOf('abc'.repeat(times))),
);

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
        .map(([name, plain, method, form]) => makeEntry(name, plain, method, form)),
      // 7-Zip does not open an archive that has ZIP64 end records and no entry.
      { minLength: 1, maxLength: 4, selector: ({ name }) => name },
    ),
    zip64: fc.boolean(),
  })
  .map(({ entries, zip64 }) => ({ entries, end: zip64 ? zip64End() : {} }));

/** Methods, flags, versions, boundaries, and any numbers. */
const values = fc.oneof(
  fc.constantFrom(0, 1, 8, 9, 10, 20, 45, 46, 99, 0x0800, 0x0801, 0x0808, 0xffff, IN_ZIP64 - 1, IN_ZIP64),
  fc.nat(0xffff),
);

const changeEntry =
  (at: number, change: (entry: RawEntry) => Partial<RawEntry>): Mutation =>
  ({ entries, end }) => ({
    entries: entries.map((entry, i) => (i === at % entries.length ? { ...entry, ...change(entry) } : entry)),
    end,
  });
const changeEnd =
  (change: RawEnd): Mutation =>
  ({ entries, end }) => ({ entries, end: { ...end, ...change } });

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

// oxfmt-ignore
const NAMES = [
  'manifest.json', 'OBJECTS/A', '../a', '/a', 'C:/a', 'a\\b', 'a/', 'NUL', 'a\0b', 'u\u0308',
] as const;

/** Another value for a field in one or both headers of an entry. */
const headerChange = (part: 'both' | 'local' | 'central'): fc.Arbitrary<Mutation> =>
  fc
    .tuple(fc.nat(), fc.constantFrom(...FIELDS[part]), values)
    .map(([at, field, value]) =>
      changeEntry(at, (entry) => ({ [part]: { ...entry[part], [field]: value } })),
    );

const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  headerChange('both'),
  headerChange('local'),
  headerChange('central'),
  fc
    .tuple(fc.nat(), fc.constantFrom('before', 'after', 'data', 'comment'), junk)
    .map(([at, member, bytes]) => changeEntry(at, () => ({ [member]: bytes }))),
  fc
    .tuple(fc.nat(), fc.constantFrom('extra', 'localExtra'), blocks, fc.boolean())
    .map(([at, member, block, add]) =>
      changeEntry(at, (entry) => ({ [member]: add ? join(entry[member] ?? le(0, 0), block) : block })),
    ),
  fc
    .tuple(fc.nat(), fc.constantFrom('name', 'localName'), fc.constantFrom(...NAMES))
    .map(([at, member, name]) => changeEntry(at, () => ({ [member]: name }))),
  fc.nat().map((at): Mutation => ({ entries, end }) => ({
    entries: [...entries, ...entries.slice(at % entries.length).slice(0, 1)],
    end,
  })),
  fc.tuple(fc.constantFrom(...FIELDS.end), values).map(([field, value]) => changeEnd({ [field]: value })),
  fc
    .tuple(fc.constantFrom('prefix', 'suffix', 'comment'), junk)
    .map(([member, bytes]) => changeEnd({ [member]: bytes })),
  fc
    .tuple(fc.constantFrom(...FIELDS.end64), values)
    .map(([field, value]) => changeEnd({ before: (place) => end64(place, { [field]: value }) })),
  fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }).map((order): Mutation => ({ entries, end }) => ({
    entries,
    end: { ...end, order: order.map((i) => i % entries.length) },
  })),
);

/** A sound archive with up to three changes, which may agree with each other. */
export const badArchives: fc.Arbitrary<Model> = fc
  .tuple(models, fc.array(mutations, { maxLength: 3 }))
  .map(([model, all]) => all.reduce((changed, mutate) => mutate(changed), model));
