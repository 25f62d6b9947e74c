import * as z from 'zod/mini';
import { assertEcdsaDer } from '../../bytes/der.ts';
import { canonicalJson, parseCanonicalJson } from '../../bytes/json/canonical.ts';
import { digestStream } from '../../bytes/hash.ts';
import { fromBase64url, fromHex, toBase64url, toHex, toUtf8 } from '../../bytes/text/encoding.ts';
import { once } from '../../bytes/async.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import type { RandomAccess } from '../../bytes/random-access.ts';
import * as attestation from '../../contract/resources/attestation.ts';
import * as evidence from '../../contract/resources/evidence.ts';
import * as authoring from '../../contract/resources/authoring.ts';
import * as build from '../../contract/resources/build.ts';
import * as run from '../../contract/resources/run.ts';
import * as operation from '../../contract/resources/operation.ts';
import * as session from '../../contract/resources/session.ts';
import * as errors from '../../contract/operations/errors.ts';
import * as scalars from '../../contract/scalars.ts';
import * as answers from '../../contract/operations/answers.ts';
import { assertSafeName, createNameCheck, type ZipLimits } from '../../zip/limits.ts';
import { openZip } from '../../zip/read/open.ts';
import { writeZip } from '../../zip/write/write.ts';
import { bytesOfBase64, bytesOfHex, type CaseKind, defineKind, type CaseOutcome, WAYS } from '../outcome.ts';

const text = z.object({ text: z.string() });

function checkFormat(format: string, value: string): CaseOutcome {
  const schema: unknown = Object.entries({
    ...attestation,
    ...evidence,
    ...authoring,
    ...build,
    ...run,
    ...operation,
    ...session,
    ...errors,
    ...answers,
    ...scalars,
  }).find(([name]) => name === `${format}Schema`)?.[1];
  if (!(schema instanceof z.ZodMiniType)) throw new TypeError(`unknown format ${format}`);
  return { verdict: schema.safeParse(value).success ? 'valid' : 'invalid' };
}

/** Writes files with these names: the writer must refuse exactly the names that the reader refuses. */
async function writeTree(paths: readonly string[]): Promise<void> {
  const entries = paths.map((name) => ({ name, open: () => once(new Uint8Array()) }));
  for await (const _ of writeZip(entries, { compression: 'store' }));
}

async function readArchive(access: RandomAccess, limits: ZipLimits | undefined) {
  const archive = await openZip(access, limits);
  const entries = [];
  for (const entry of archive.entries)
    entries.push({ name: entry.name, ...(await digestStream(archive.read(entry))) });
  return { entries, warnings: [...new Set(archive.notes.map(({ code }) => code))].toSorted() };
}

export const bytesKinds: Readonly<Record<string, CaseKind>> = {
  hex: defineKind(text, [
    'decoded, and encoded again',
    (input) => {
      const bytes = fromHex(input.text);
      if (toHex(bytes) !== input.text) throw new TypeError('the text encoded again differs');
      return { base64: Buffer.from(bytes).toString('base64') };
    },
  ]),
  base64url: defineKind(text, [
    'decoded, and encoded again',
    (input) => {
      const bytes = fromBase64url(input.text);
      if (toBase64url(bytes) !== input.text) throw new TypeError('the text encoded again differs');
      return { hex: toHex(bytes) };
    },
  ]),
  'strict-json': defineKind(
    z.object({ hex: z.string(), maxBytes: z.exactOptional(z.int()), maxValues: z.exactOptional(z.int()) }),
    ['parsed', ({ hex, ...limits }) => ({ canonical: canonicalJson(parseJson(bytesOfHex(hex), limits)) })],
  ),
  'canonical-json': defineKind(
    z.object({ json: z.string() }),
    ['native parser', ({ json }) => ({ canonical: canonicalJson(JSON.parse(json)) })],
    [
      'its own form, parsed and rendered again',
      ({ json }) => {
        const form = canonicalJson(JSON.parse(json));
        return { canonical: canonicalJson(parseCanonicalJson(toUtf8(form))) };
      },
    ],
  ),
  identifiers: defineKind(z.object({ format: z.string(), text: z.string() }), [
    'schema',
    (input) => checkFormat(input.format, input.text),
  ]),
  paths: defineKind(
    z.object({ paths: z.array(z.string()) }),
    [
      'names',
      ({ paths }) => {
        const assertNew = createNameCheck();
        for (const path of paths) {
          assertSafeName(path);
          assertNew(path);
        }
      },
    ],
    ['written', ({ paths }) => writeTree(paths)],
  ),
  'der-signatures': defineKind(z.object({ hex: z.string() }), [
    'strict',
    ({ hex }) => assertEcdsaDer(bytesOfHex(hex)),
  ]),
  archives: defineKind(
    z.object({ zip: z.string(), limits: z.optional(z.record(z.string(), z.number())) }),
    ...WAYS.map(
      ([name, open]) =>
        [
          name,
          (input: { zip: string; limits?: ZipLimits | undefined }) =>
            readArchive(open(bytesOfBase64(input.zip)), input.limits),
        ] as const,
    ),
  ),
};
