import * as z from 'zod/mini';
import { countSchema, digestSchema, semverSchema, slugSchema } from '../contract/scalars.ts';
import { documentParser, pathSchema } from './document.ts';

const assetSchema = z.strictObject({
  path: pathSchema,
  mediaType: z.string().check(z.minLength(1), z.maxLength(255)),
  artifactHash: digestSchema,
  bytes: countSchema,
});

const packageSchema = z.strictObject({
  packageId: slugSchema,
  version: semverSchema,
  manifestHash: digestSchema,
  artifactHash: digestSchema,
  manifest: pathSchema,
  source: pathSchema,
  ui: z.optional(z.strictObject({ entry: pathSchema, assets: z.array(assetSchema) })),
});

/** `build.json` of a build archive (formats §7): the packages that the build locks. Its SHA-256 is the `buildHash`. */
export const buildLockSchema = z
  .strictObject({ schemaVersion: z.literal(1), kind: z.literal('build'), packages: z.array(packageSchema) })
  .check(({ value, issues }) => {
    const seen = new Set<string>();
    for (const [i, { packageId }] of value.packages.entries()) {
      if (seen.has(packageId)) {
        const message = `the package ${packageId} occurs twice`;
        issues.push({ code: 'custom', input: value, path: ['packages', i, 'packageId'], message });
      }
      seen.add(packageId);
    }
  });

export type BuildLock = z.infer<typeof buildLockSchema>;
export type LockedPackage = BuildLock['packages'][number];

/**
 * Types `build.json`.
 * @throws DrillproofError `build.ARCHIVE_INVALID`, `json.NOT_CANONICAL`, and what the JSON parsers throw
 */
export const parseBuildLock = documentParser<BuildLock>({
  schema: buildLockSchema,
  code: 'build.ARCHIVE_INVALID',
  canonical: true,
  limit: 'manifestBytes',
  rows: { packages: { schema: packageSchema } },
});
