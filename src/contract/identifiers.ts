import * as z from 'zod/mini';
import { DIGEST, isDigest } from '../bytes/index.ts';
import { narrowText, textSchema } from './scalars.ts';

// Every format of control API, Conventions. `$` without the m flag is the end of the text, not of a line.

const prefixed = (prefix: string) => z.string().check(z.regex(new RegExp(`^${prefix}_[0-9a-z]{12,32}$`)));
const chosenByCaller = (prefix: string) =>
  z.string().check(z.regex(new RegExp(`^${prefix}_[A-Za-z0-9][A-Za-z0-9_-]{5,95}$`)));

export const organizationIdSchema = prefixed('org');
export const projectIdSchema = prefixed('prj');
export const environmentIdSchema = prefixed('env');
export const sessionIdSchema = prefixed('ses');
export const callbackReceiverBindingIdSchema = prefixed('cbr');
export const hostedSnapshotIdSchema = prefixed('hsnap');
export const operationIdSchema = prefixed('op');
export const authoringSessionIdSchema = prefixed('authsess');
export const hostedRunIdSchema = prefixed('hrun');
export const evidenceExportIdSchema = prefixed('evexp');
export const evidenceBundleIdSchema = prefixed('evidence');
export const buildAttemptIdSchema = prefixed('attempt');
export const sourceDraftIdSchema = prefixed('draft');

export const runIdSchema = chosenByCaller('run');
export const correlationIdSchema = chosenByCaller('corr');
export const pendingEventIdSchema = chosenByCaller('pending');

/** `sha256:` and 64 lowercase hex characters (control API, Conventions). */
export const digestSchema = z.string().check(z.regex(DIGEST));

/** The same in our own documents, typed as a `Digest`. */
export const typedDigestSchema = narrowText(digestSchema, isDigest);

/**
 * drillId, scenarioId, packageId, faultId: it begins with a letter; the segments after a hyphen or underscore may
 * begin with a digit, as in `checkout-2`. 1 to 96 characters.
 */
export const slugSchema = z.string().check(z.regex(/^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/), z.maxLength(96));

export const idempotencyKeySchema = z.string().check(z.regex(/^[A-Za-z0-9._:-]{8,128}$/));

/** The id of a local report: ours begin with `lrep_`, others may be anything that is safe in a path (formats §1). */
export const localReportIdSchema = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,128}$/));

/** An identifier to which the control API gives no format: 1 to 128 characters. */
export const opaqueIdSchema = textSchema(1, 128);

/** Who asked, made or uploaded: 1 to 255 characters. */
export const principalSchema = textSchema(1, 255);

/** The seed of a world or a run: 1 to 20 characters. */
export const seedSchema = textSchema(1, 20);

/** A commit: 40 lowercase hex characters. */
export const revisionSchema = z.string().check(z.regex(/^[0-9a-f]{40}$/));

const NUMERIC = '(?:0|[1-9][0-9]*)';
const PRERELEASE = `(?:${NUMERIC}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = '[0-9A-Za-z-]+';

/** major.minor.patch with optional prerelease and build suffix (Semantic Versioning 2.0.0 §2, §9, §10). */
export const semverSchema = z
  .string()
  .check(
    z.regex(
      new RegExp(
        `^${NUMERIC}\\.${NUMERIC}\\.${NUMERIC}` +
          `(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
      ),
    ),
  );
