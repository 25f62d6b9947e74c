import { compareUtf8 } from '../../bytes/text/encoding.ts';
import * as z from 'zod/mini';
import {
  countSchema,
  digestSchema,
  evidenceBundleIdSchema,
  hostedRunIdSchema,
  msSchema,
  organizationIdSchema,
  projectIdSchema,
  runIdSchema,
} from '../../contract/scalars.ts';
import { type RunResult, runResultSchema } from '../../contract/resources/run.ts';
import { documentParser, pathSchema, refuseTwins } from '../document.ts';

/** The roles of objects. The signature binds the first four, and a signed bundle has each of them exactly once. */
export const OBJECT_ROLES = [
  'run-result',
  'evidence',
  'state',
  'trajectory',
  'log',
  'screenshot',
  'video',
  'file',
] as const;
export type ObjectRole = (typeof OBJECT_ROLES)[number];

/** The roles whose objects a statement names by hash, with the field of the statement (formats §2). */
export const SIGNED_ROLES = {
  'run-result': 'runResultHash',
  evidence: 'evidenceHash',
  state: 'stateHash',
  trajectory: 'trajectoryHash',
} as const satisfies Partial<Record<ObjectRole, string>>;
export type SignedRole = keyof typeof SIGNED_ROLES;
export const signedRoles = Object.keys(SIGNED_ROLES) as readonly SignedRole[];

const objectSchema = z.strictObject({
  path: pathSchema.check(
    z.refine((path) => path.startsWith('objects/'), 'the path of an object begins with objects/'),
  ),
  mediaType: z
    .string()
    .check(
      z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:;[ -~]*)?$/),
      z.maxLength(255),
    ),
  digest: digestSchema,
  bytes: countSchema,
  role: z.optional(z.enum(OBJECT_ROLES)),
});

/** The bundle manifest (formats §1): closed, objects sorted by the UTF-8 bytes of their paths. */
export const bundleManifestSchema = z
  .strictObject({
    schemaVersion: z.literal(1),
    kind: z.literal('evidence.bundle'),
    evidenceBundleId: evidenceBundleIdSchema,
    organizationId: organizationIdSchema,
    projectId: projectIdSchema,
    hostedRunId: hostedRunIdSchema,
    rerunOfHostedRunId: z.optional(hostedRunIdSchema),
    runId: runIdSchema,
    createdAtMs: msSchema,
    objects: z.array(objectSchema),
  })
  .check((context) => {
    const objects = context.value.objects;
    refuseTwins(objects, 'objects', context.issues);
    refuseDisorder(objects, context.issues);
    refuseSecondRole(objects, context.issues);
  });

/**
 * The `manifest.json` of one bundle (formats §1): its ids, when it was created (ms since 1970), and the path, media
 * type, digest and size in bytes of each object.
 */
export type BundleManifest = z.infer<typeof bundleManifestSchema>;
export type BundleObject = BundleManifest['objects'][number];

type Issues = z.core.$ZodRawIssue[];

function refuseDisorder(objects: readonly BundleObject[], issues: Issues): void {
  const at = objects.findIndex(({ path }, i) => i > 0 && compareUtf8(objects[i - 1]!.path, path) >= 0);
  if (at < 0) return;
  const message = 'the objects are not sorted by path';
  issues.push({ code: 'custom', input: objects, path: ['objects', at], message });
}

function refuseSecondRole(objects: readonly BundleObject[], issues: Issues): void {
  for (const role of signedRoles) {
    const first = objects.findIndex((object) => object.role === role);
    const second = objects.findIndex((object, i) => object.role === role && i > first);
    if (second < 0) continue;
    const message = `the role ${role} occurs more than once`;
    issues.push({ code: 'custom', input: objects, path: ['objects', second, 'role'], message });
  }
}

/**
 * Parses the manifest of a bundle, which must be canonical JSON (formats §1).
 * @throws DrillproofError `bundle.MANIFEST_INVALID`, `json.NOT_CANONICAL`, and what `parseJson` throws
 * @example
 * const { objects } = parseBundleManifest(await readFile('manifest.json'));
 */
export const parseBundleManifest = documentParser<BundleManifest>({
  schema: bundleManifestSchema,
  code: 'bundle.MANIFEST_INVALID',
  canonical: true,
  limit: 'manifestBytes',
  rows: { objects: { schema: objectSchema, limit: { name: 'objects', code: 'bundle.OBJECTS_EXCEEDED' } } },
});

/**
 * Types the object of role `run-result`: the `result` of the hosted run (formats §1, Bundle manifest).
 * @throws DrillproofError `bundle.RUN_RESULT_INVALID`, `json.NOT_CANONICAL`, and what the JSON parsers throw
 */
export const parseRunResult = documentParser<RunResult>({
  schema: runResultSchema,
  code: 'bundle.RUN_RESULT_INVALID',
  canonical: true,
  limit: 'runResultBytes',
});

/** The object of a role that occurs at most once. */
export const objectOfRole = (manifest: BundleManifest, role: SignedRole): BundleObject | undefined =>
  manifest.objects.find((object) => object.role === role);

/** Bytes of all objects: `storage.artifactBytes` of the bundle (formats §1). */
export const countArtifactBytes = (manifest: BundleManifest): number =>
  manifest.objects.reduce((sum, object) => sum + object.bytes, 0);
