import { isoTime, markLookalikes } from '../bytes/text/wording.ts';
import type { StatementCode } from '../codes/facts.ts';
import type { TrustStore } from './store.ts';
import { formatKeyName, type Purpose, thumbprintOf, type TrustedKey } from './trusted-key.ts';

/** The facts of a signed statement that decide which key is valid for it. */
export type SignedStatement = {
  readonly issuer: string;
  readonly keyId: string;
  readonly issuedAtMs: number;
  readonly purpose: Purpose;
  /** Absent when the project or organization of the evidence is unknown. */
  readonly projectId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** A trusted timestamp proves that the statement existed at this time. */
  readonly stampedAtMs?: number | undefined;
  /** The time of the verification. Without it, a key that has an end counts as retired. */
  readonly asOfMs?: number;
};

/** A reason why a key is not valid for a statement. */
export type KeyProblem = {
  readonly code: StatementCode;
  readonly message: string;
  readonly expected?: string;
  readonly actual?: string;
};

/** A remark on a key that may be valid for the statement. */
export type KeyNote = {
  readonly code: 'attestation.TIME_CLAIMED' | 'attestation.STAMPED_EARLIER' | 'trust.CHAIN_NOT_CHECKED';
  readonly message: string;
};

/** Limits of a key that cannot be checked, because the project or organization of the evidence is unknown. */
export type UncheckedScope = 'project' | 'organization';

export type KeyResult = {
  /** The key with this name, even if it is not valid for the statement. */
  readonly key?: TrustedKey;
  /** Empty exactly if the key is valid for the statement, apart from `unchecked` limits. */
  readonly problems: readonly KeyProblem[];
  readonly notes: readonly KeyNote[];
  readonly unchecked: readonly UncheckedScope[];
};

type Rule = (key: TrustedKey, statement: SignedStatement, store: TrustStore) => KeyProblem | undefined;

/**
 * Looks up the key of a statement and checks its purpose, project, organization, window and revocation, with times to the
 * millisecond (formats §3). It does not check the signature, or that the statement was issued before `asOfMs`.
 * Problems: `trust.KEY_UNKNOWN`, `trust.PURPOSE_MISMATCH`, `trust.PROJECT_MISMATCH`, `trust.ORGANIZATION_MISMATCH`,
 * `trust.KEY_NOT_YET_VALID`, `trust.KEY_EXPIRED`, `trust.KEY_REVOKED`.
 */
export function checkKey(store: TrustStore, statement: SignedStatement): KeyResult {
  const key = store.find(statement.issuer, statement.keyId);
  if (key === undefined)
    return { problems: [describeUnknownKey(store, statement)], notes: [], unchecked: [] };
  const problems = RULES.map((rule) => rule(key, statement, store)).filter(
    (problem) => problem !== undefined,
  );
  return {
    key,
    problems,
    notes: listNotes(key, statement, problems.length === 0),
    unchecked: listUncheckedScopes(key, statement),
  };
}

/** The problem of a key that no store has under the name in a statement, next to the nearest trusted names. */
export function describeUnknownKey(
  store: TrustStore,
  statement: Pick<SignedStatement, 'keyId'> & { readonly issuer: string | undefined },
): KeyProblem {
  const sameId = store.keys.filter((key) => key.keyId === statement.keyId);
  const sameIssuer = store.keys.filter((key) => key.issuer === statement.issuer);
  const [nearest = []] = [sameId, sameIssuer, store.keys].filter(({ length }) => length > 0);
  const more = nearest.length - MAX_NAMES;
  const names = nearest.slice(0, MAX_NAMES).map(formatKeyName);
  const { issuer, keyId } = statement;
  const marks =
    issuer === undefined || sameIssuer.length > 0 ? '' : markLookalikes(nearest[0]?.issuer ?? '', issuer);
  return {
    code: 'trust.KEY_UNKNOWN',
    message:
      issuer !== undefined && sameId.length > 0
        ? `the key id is trusted for another issuer only${marks}`
        : `no such key${issuer === undefined ? '' : ' of that issuer'} is trusted${marks}`,
    expected: `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    actual: issuer === undefined ? `key ${JSON.stringify(keyId)}` : formatKeyName({ issuer, keyId }),
  };
}

/** Trusted keys that are named next to an unknown one. */
const MAX_NAMES = 3;

const RULES: readonly Rule[] = [
  (key, { purpose }) =>
    key.purposes.includes(purpose)
      ? undefined
      : {
          code: 'trust.PURPOSE_MISMATCH',
          message: `the key is not trusted for purpose "${purpose}"`,
          expected: key.purposes.join(', '),
          actual: purpose,
        },
  (key, { projectId }) => checkScope('trust.PROJECT_MISMATCH', 'project', key.projects, projectId),
  (key, { organizationId }) =>
    checkScope('trust.ORGANIZATION_MISMATCH', 'organization', key.organizations, organizationId),
  ({ notBeforeMs }, { issuedAtMs }) =>
    notBeforeMs === undefined || notBeforeMs <= issuedAtMs
      ? undefined
      : {
          code: 'trust.KEY_NOT_YET_VALID',
          message: 'the statement was issued before the key was valid',
          expected: `at or after ${isoTime(notBeforeMs)}`,
          actual: isoTime(issuedAtMs),
        },
  ({ notAfterMs }, { issuedAtMs }) =>
    notAfterMs === undefined || issuedAtMs <= notAfterMs
      ? undefined
      : {
          code: 'trust.KEY_EXPIRED',
          message: 'the statement was issued after the key expired',
          expected: `at or before ${isoTime(notAfterMs)}`,
          actual: isoTime(issuedAtMs),
        },
  checkRevocation,
];

const isCompromised = (key: TrustedKey): boolean => key.revokedAtMs !== undefined && key.compromised;

/**
 * The key that lists the point of a key as compromised: the key itself, or another name of it. A stolen key is stolen
 * under every name (formats §3).
 */
export const findCompromise = ({ keys }: Pick<TrustStore, 'keys'>, key: TrustedKey): TrustedKey | undefined =>
  isCompromised(key)
    ? key
    : keys.find((other) => isCompromised(other) && thumbprintOf(other) === thumbprintOf(key));

function checkRevocation(
  key: TrustedKey,
  { issuedAtMs, stampedAtMs = Infinity }: SignedStatement,
  store: TrustStore,
): KeyProblem | undefined {
  const compromise = findCompromise(store, key);
  if (compromise?.revokedAtMs !== undefined && stampedAtMs >= compromise.revokedAtMs) {
    const name = compromise === key ? '' : `, listed as ${formatKeyName(compromise)}`;
    const message = `the key is revoked since ${isoTime(compromise.revokedAtMs)} as compromised${name}, so no statement is valid without a timestamp from before`;
    return { code: 'trust.KEY_REVOKED', message };
  }
  const { revokedAtMs } = key;
  if (revokedAtMs === undefined || issuedAtMs < revokedAtMs || stampedAtMs < revokedAtMs) return undefined;
  return {
    code: 'trust.KEY_REVOKED',
    message: 'the statement was not issued before the key was revoked',
    expected: `before ${isoTime(revokedAtMs)}`,
    actual: isoTime(issuedAtMs),
  };
}

function checkScope(
  code: StatementCode,
  scope: UncheckedScope,
  trusted: readonly string[] | undefined,
  actual: string | undefined,
): KeyProblem | undefined {
  if (trusted === undefined || actual === undefined || trusted.includes(actual)) return undefined;
  return { code, message: `the key is not trusted for this ${scope}`, expected: trusted.join(', '), actual };
}

function listUncheckedScopes(key: TrustedKey, statement: SignedStatement): UncheckedScope[] {
  const unchecked: UncheckedScope[] = [];
  if (key.projects !== undefined && statement.projectId === undefined) unchecked.push('project');
  if (key.organizations !== undefined && statement.organizationId === undefined)
    unchecked.push('organization');
  return unchecked;
}

function listNotes(
  key: TrustedKey,
  { issuedAtMs, stampedAtMs = Infinity, asOfMs }: SignedStatement,
  valid: boolean,
): KeyNote[] {
  const notes: KeyNote[] = [];
  const retired = key.notAfterMs !== undefined && key.notAfterMs < (asOfMs ?? Infinity);
  const { notAfterMs = Infinity, revokedAtMs = Infinity } = key;
  const isProven = stampedAtMs <= notAfterMs && stampedAtMs < revokedAtMs;
  if (valid && !isProven && (retired || key.revokedAtMs !== undefined)) {
    const why = key.revokedAtMs === undefined ? 'is retired' : 'was revoked later';
    const message = `the key ${why}, and only the signer states that the statement is from ${isoTime(issuedAtMs)}`;
    notes.push({ code: 'attestation.TIME_CLAIMED', message });
  }
  if (stampedAtMs < issuedAtMs) {
    const message = `a timestamp proves that the statement existed at ${isoTime(stampedAtMs)}, before ${isoTime(issuedAtMs)}, the time that it states`;
    notes.push({ code: 'attestation.STAMPED_EARLIER', message });
  }
  if (key.fromCertificate === true) {
    notes.push({
      code: 'trust.CHAIN_NOT_CHECKED',
      message: 'the key is from a certificate whose chain was not checked',
    });
  }
  return notes;
}
