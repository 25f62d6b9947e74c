import * as z from 'zod/mini';
import {
  assertEcdsaDer,
  canonicalJson,
  digestStream,
  fromBase64url,
  fromHex,
  once,
  parseCanonicalJson,
  parseJson,
  type RandomAccess,
  toBase64url,
  toHex,
  toUtf8,
} from '../../bytes/index.ts';
import * as contract from '../../contract/index.ts';
import { assertSafeName, distinctNames, openZip, writeZip, type ZipLimits } from '../../zip/index.ts';
import {
  bytesOfBase64,
  bytesOfHex,
  type Kind,
  defineKind,
  type Outcome,
  tryOutcome,
  WAYS,
} from '../outcome.ts';

const text = z.object({ text: z.string() });

const FORMATS: Readonly<Record<string, z.ZodMiniType>> = {
  organizationId: contract.organizationIdSchema,
  projectId: contract.projectIdSchema,
  environmentId: contract.environmentIdSchema,
  sessionId: contract.sessionIdSchema,
  operationId: contract.operationIdSchema,
  authoringSessionId: contract.authoringSessionIdSchema,
  hostedRunId: contract.hostedRunIdSchema,
  evidenceExportId: contract.evidenceExportIdSchema,
  evidenceBundleId: contract.evidenceBundleIdSchema,
  buildAttemptId: contract.buildAttemptIdSchema,
  sourceDraftId: contract.sourceDraftIdSchema,
  runId: contract.runIdSchema,
  localReportId: contract.localReportIdSchema,
  digest: contract.digestSchema,
  slug: contract.slugSchema,
  semver: contract.semverSchema,
  idempotencyKey: contract.idempotencyKeySchema,
  revision: contract.revisionSchema,
  seed: contract.seedSchema,
  decimalBytes: contract.decimalBytesSchema,
};

function checkFormat(format: string, value: string): Outcome {
  const schema = FORMATS[format];
  if (schema === undefined) throw new TypeError(`unknown format ${format}`);
  return { verdict: schema.safeParse(value).success ? 'valid' : 'invalid' };
}

/** The writer must refuse exactly the names that the reader refuses. */
async function writeTree(paths: readonly string[]): Promise<void> {
  const entries = paths.map((name) => ({ name, open: () => once(new Uint8Array()) }));
  for await (const _ of writeZip(entries, { compression: 'store' }));
}

async function readArchive(
  access: RandomAccess,
  limits: ZipLimits | undefined,
): Promise<Record<string, unknown>> {
  const archive = await openZip(access, limits);
  const entries = [];
  for (const entry of archive.entries) {
    entries.push({ name: entry.name, ...(await digestStream(archive.read(entry))) });
  }
  return { entries, warnings: [...new Set(archive.notes.map(({ code }) => code))].toSorted() };
}

const archiveShape = z.object({
  zip: z.string(),
  limits: z.optional(z.record(z.string(), z.number())),
});

export const bytesKinds: Readonly<Record<string, Kind>> = {
  hex: defineKind(text, [
    'decoded, and encoded again',
    (input) =>
      tryOutcome(() => {
        const bytes = fromHex(input.text);
        if (toHex(bytes) !== input.text) throw new TypeError('another text comes back');
        return { base64: Buffer.from(bytes).toString('base64') };
      }),
  ]),
  base64url: defineKind(text, [
    'decoded, and encoded again',
    (input) =>
      tryOutcome(() => {
        const bytes = fromBase64url(input.text);
        if (toBase64url(bytes) !== input.text) throw new TypeError('another text comes back');
        return { hex: toHex(bytes) };
      }),
  ]),
  'strict-json': defineKind(
    z.object({ hex: z.string(), maxBytes: z.exactOptional(z.int()), maxValues: z.exactOptional(z.int()) }),
    [
      'parsed',
      ({ hex, ...limits }) =>
        tryOutcome(() => ({ canonical: canonicalJson(parseJson(bytesOfHex(hex), limits)) })),
    ],
  ),
  'canonical-json': defineKind(
    z.object({ json: z.string() }),
    ['native parser', ({ json }) => tryOutcome(() => ({ canonical: canonicalJson(JSON.parse(json)) }))],
    [
      'its own form, parsed and rendered again',
      ({ json }) =>
        tryOutcome(() => {
          const form = canonicalJson(JSON.parse(json));
          return { canonical: canonicalJson(parseCanonicalJson(toUtf8(form))) };
        }),
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
      ({ paths }) =>
        tryOutcome(() => {
          const assertNew = distinctNames();
          for (const path of paths) {
            assertSafeName(path);
            assertNew(path);
          }
        }),
    ],
    [
      'written',
      ({ paths }) =>
        tryOutcome(async () => {
          await writeTree(paths);
          return {};
        }),
    ],
  ),
  'der-signatures': defineKind(z.object({ hex: z.string() }), [
    'strict',
    ({ hex }) => tryOutcome(() => assertEcdsaDer(bytesOfHex(hex))),
  ]),
  archives: defineKind(
    archiveShape,
    ...WAYS.map(
      ([name, open]) =>
        [
          name,
          (input: z.infer<typeof archiveShape>) =>
            tryOutcome(() => readArchive(open(bytesOfBase64(input.zip)), input.limits)),
        ] as const,
    ),
  ),
};
