import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import type { Code } from '../../../src/codes/catalogue.ts';
import { type RawEnd, type RawEntry, extraField, join, le, rawZip } from '../../../test/zip/raw-zip.ts';
import type { Flag } from '../../flags.ts';
import {
  VALID,
  type VectorCase,
  accepts,
  base64Schema,
  codeSchema,
  digestTextSchema,
  refused,
} from '../../kind.ts';
import { base64Of, sha256Of, utf8 } from '../../make/bytes.ts';

const limitsSchema = z.strictObject({
  entries: z.optional(z.int()),
  directoryBytes: z.optional(z.int()),
  entryBytes: z.optional(z.int()),
  totalBytes: z.optional(z.int()),
  expansionRatio: z.optional(z.int()),
  expansionFloorBytes: z.optional(z.int()),
});

export const inputSchema = z.strictObject({
  zip: base64Schema,
  sha256: digestTextSchema.check(z.describe('of the archive, to know that it was decoded right')),
  limits: z.optional(limitsSchema).check(z.describe('in place of the limits of the format')),
});

export const expectedSchema = accepts(
  z.strictObject({
    verdict: z.literal('valid'),
    entries: z.array(z.strictObject({ name: z.string(), bytes: z.int(), digest: digestTextSchema })),
    warnings: z.array(codeSchema).check(z.describe('distinct and sorted; they change no verdict')),
  }),
);

export type Input = z.infer<typeof inputSchema>;

export type Case = VectorCase<Input, z.infer<typeof expectedSchema>>;

export type Files = readonly (readonly [name: string, content: string | Uint8Array])[];

const inputOf = (zip: Uint8Array): Input => ({ zip: base64Of(zip), sha256: sha256Of(zip) });

export const good = (
  id: string,
  zip: Uint8Array,
  files: Files,
  flag: Flag,
  comment: string,
  ...warnings: Code[]
): Case => ({
  id,
  comment,
  flags: [flag],
  input: inputOf(zip),
  expected: {
    ...VALID,
    entries: files.map(([name, content]) => ({
      name,
      bytes: Buffer.from(content).length,
      digest: sha256Of(content),
    })),
    warnings,
  },
});

export const bad = (id: string, zip: Uint8Array, code: Code, flag: Flag, comment: string): Case => ({
  id,
  comment,
  flags: [flag],
  input: inputOf(zip),
  expected: refused(code),
});

export const badEntry = (
  id: string,
  entry: RawEntry | readonly RawEntry[],
  code: Code,
  flag: Flag,
  comment: string,
): Case => bad(`entry-${id}`, rawZip([entry].flat()), code, flag, comment);

export const badEnd = (id: string, end: RawEnd, code: Code, flag: Flag, comment: string): Case =>
  bad(`end-${id}`, rawZip([a, b], end), code, flag, comment);

export const limited = (one: Case, limits: Input['limits']): Case => ({
  ...one,
  input: { ...one.input, limits },
});

export const a: RawEntry = { name: 'a', plain: 'first' };

export const b: RawEntry = { name: 'b', plain: 'second' };

export const AB: Files = [
  ['a', 'first'],
  ['b', 'second'],
];

export const none = new Uint8Array();

export const wideNumber = 0xff_ff_ff_ff;

export const METADATA = 'zip.METADATA_UNUSUAL';

export const nested = rawZip([{ name: 'x', plain: 'x' }]);

export const REPEATED = 'some bytes, some bytes, some bytes';

export const deflated = (plain: string, data: Uint8Array): RawEntry => ({
  name: 'a',
  method: 8,
  plain,
  data,
});

export const descriptor = (plain: string): Uint8Array =>
  join(le(crc32(plain), 4), le(plain.length, 4), le(plain.length, 4));

export const streamed = (after: Uint8Array, rest: Partial<RawEntry> = {}): RawEntry => ({
  name: 'a',
  plain: 'abc',
  flags: 0x0808,
  local: { crc: 0, compressed: 0, size: 0 },
  after,
  ...rest,
});

export const unicodePath = (name: string, of = name, version = 1): Uint8Array =>
  extraField(0x7075, join(le(version, 1), le(crc32(of), 4), utf8(name)));

export const numbers = (...values: readonly number[]): Uint8Array =>
  extraField(1, join(...values.map((value) => le(value, 8))));

/** An entry of five bytes whose numbers are all in ZIP64 fields. */
export const wide: RawEntry = {
  ...a,
  both: { version: 45, size: wideNumber, compressed: wideNumber },
  central: { offset: wideNumber },
  extra: numbers(5, 5, 0),
  localExtra: numbers(5, 5),
};
