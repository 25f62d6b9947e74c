import * as z from 'zod/mini';
import { defined } from '../../bytes/arguments.ts';
import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { type Digest, digestOf } from '../../bytes/hash.ts';
import { parseJson } from '../../bytes/json/parse.ts';
import { atMsSchema, digestSchema, seedSchema, slugSchema } from '../../contract/scalars.ts';
import { DrillproofError, LimitError } from '../../errors.ts';
import { typeDocument } from '../../evidence/document.ts';
import { buildInTotoStatement, IN_TOTO_PAYLOAD_TYPE, requireInToto } from '../../evidence/in-toto.ts';
import { type DsseEnvelope, encodeDsse, parseDsse, signDsse } from '../../trust/dsse.ts';
import type { TrustStore } from '../../trust/store.ts';
import { findingsOf } from '../finding.ts';
import type { AttestationReport, Finding } from '../report.ts';
import {
  buildLink,
  checkLinkedSignatures,
  checkLinks,
  isLinked,
  type Linked,
  linkedMembers,
  linkedStatement,
  type LinkSigning,
} from '../signature/linked.ts';

const CHALLENGE_PREDICATE_TYPE = 'urn:drillproof:attestation:challenge:v1';

const members = {
  drillId: slugSchema.check(z.describe('the drill that must run')),
  buildHash: digestSchema.check(z.describe('the build that it must run with')),
  seed: seedSchema.check(z.describe('the random seed that the run must use')),
  expiresAtMs: atMsSchema.check(z.describe('the answer must exist by then')),
};

/** The signed statement of a challenge: its subject is the seed. */
export const challengeSchema = linkedStatement(
  'seed',
  CHALLENGE_PREDICATE_TYPE,
  z.strictObject({ ...linkedMembers, ...members }).check(
    isLinked,
    z.refine<{ issuedAtMs: number; expiresAtMs: number }>((row) => row.issuedAtMs < row.expiresAtMs, {
      path: ['expiresAtMs'],
      message: 'it ends before it begins',
    }),
  ),
);

/** The drill that must run, with which build and seed, and until when. */
export type ChallengeTask = {
  readonly drillId: string;
  readonly buildHash: string;
  readonly seed: string;
  readonly expiresAtMs: number;
};

/** A challenge of a ledger. */
export type Challenge = Linked & ChallengeTask;

/** A ledger as the rules of policies use it. */
export type ChallengeLedger = {
  readonly schemaVersion: 1;
  readonly kind: 'challenges';
  /** `valid`: trusted keys signed every challenge, and each follows the one before it. */
  readonly verdict: AttestationReport['verdict'];
  readonly asOfMs: number;
  readonly challenges: readonly Challenge[];
  readonly findings: readonly Finding[];
};

/** Bytes of a ledger, which grows by about 1 KB for each challenge. */
export const MAX_LEDGER_BYTES = 64 * 1024 * 1024;
const MAX_CHALLENGES = 50_000;

/**
 * Signs a challenge as an in-toto statement in a DSSE envelope, as one line of a ledger.
 * @throws DrillproofError `challenge.INVALID` for a task that verifiers would refuse, `trust.SIGNER_FAULT`, what the
 *   signer throws
 */
export async function signChallenge(task: ChallengeTask, signing: LinkSigning): Promise<Uint8Array> {
  const predicate = { ...buildLink(signing), ...task };
  const digest = digestOf(canonicalBytes(task.seed));
  const payload = canonicalBytes(buildInTotoStatement(digest, CHALLENGE_PREDICATE_TYPE, predicate, 'seed'));
  readPayload(payload);
  return encodeDsse(await signDsse({ payloadType: IN_TOTO_PAYLOAD_TYPE, payload }, [signing.signer]));
}

function readPayload(payload: Uint8Array): Challenge {
  const { subject, predicate } = typeDocument(parseJson(payload), {
    schema: challengeSchema,
    code: 'challenge.INVALID',
  });
  const { schemaVersion: _version, ...challenge } = predicate;
  if (digestOf(canonicalBytes(challenge.seed)) !== `sha256:${subject[0].digest.sha256}`)
    throw new DrillproofError('challenge.INVALID', 'its subject is not its seed', { path: '/subject/0' });
  return { ...challenge, digest: digestOf(payload) };
}

type LedgerOptions = {
  readonly asOfMs: number;
  readonly trust?: TrustStore;
  /** The digest of the last challenge, if the caller knows it. Without it, missing newer challenges cannot be detected. */
  readonly expectLast?: Digest;
};

const CHALLENGES = {
  noun: 'challenge',
  codes: {
    order: 'challenge.ORDER_MISMATCH',
    fork: 'challenge.FORKED',
    mismatch: 'challenge.ORDER_MISMATCH',
    missing: 'challenge.PREVIOUS_MISSING',
    last: 'challenge.LAST_MISMATCH',
  },
} as const;

/** The lines of a ledger. @throws LimitError `json.TOO_LARGE` */
function splitLedger(bytes: Uint8Array): readonly { readonly name: string; readonly line: Uint8Array }[] {
  const lines: { name: string; line: Uint8Array }[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at);
    const line = bytes.subarray(at, end === -1 ? bytes.length : end);
    lines.push({ name: `line ${lines.length + 1}`, line });
    at += line.length + 1;
    if (lines.length > MAX_CHALLENGES)
      throw new LimitError('json.TOO_LARGE', `more than ${MAX_CHALLENGES} challenges`);
  }
  return lines;
}

/**
 * Verifies a ledger of challenges, JSON Lines of DSSE envelopes, oldest first (docs/verify/time.md, Challenges): each
 * signature under the trust store, the order, gaps and both ends. Two challenges with one seed are refused, because one
 * run would answer both. Never throws for what is in the bytes, except beyond the limits.
 * @throws LimitError `json.TOO_LARGE`
 */
export function verifyLedger(bytes: Uint8Array, options: LedgerOptions): ChallengeLedger {
  const { asOfMs, trust } = options;
  const read = splitLedger(bytes).map(({ name, line }) => ({ name, ...readLine(name, line, options) }));
  const linked = read.flatMap(({ name, challenge }) =>
    challenge === undefined ? [] : [{ name, signed: challenge }],
  );
  const findings = [
    ...read.flatMap((row) => row.findings),
    ...checkLinks(linked, { ...defined({ expectLast: options.expectLast }), ...CHALLENGES }),
    ...findRepeats(linked),
  ];
  const isBroken = read.length === 0 || findings.some(({ severity }) => severity === 'error');
  const verdict = isBroken ? 'invalid' : trust === undefined ? 'not_checked' : 'valid';
  const challenges = linked.map(({ signed }) => signed);
  return { schemaVersion: 1, kind: 'challenges', verdict, asOfMs, challenges, findings };
}

/** The last challenge of a ledger, which the next one follows; no signature is verified. @throws as `readPayload` */
export function readLastChallenge(bytes: Uint8Array): Challenge | undefined {
  const last = splitLedger(bytes).at(-1);
  return last && readChallenge(parseDsse(last.line));
}

function readChallenge(envelope: DsseEnvelope): Challenge {
  requireInToto(envelope);
  return readPayload(envelope.payload);
}

type ReadLine = { readonly challenge?: Challenge; readonly findings: readonly Finding[] };

function readLine(name: string, line: Uint8Array, options: LedgerOptions): ReadLine {
  try {
    const envelope = parseDsse(line);
    const challenge = readChallenge(envelope);
    const context = { ...options, purpose: 'challenge' } as const;
    return { challenge, findings: checkLinkedSignatures(name, envelope, challenge, context).findings };
  } catch (error) {
    return { findings: findingsOf(error, name) };
  }
}

function findRepeats(linked: readonly { readonly name: string; readonly signed: Challenge }[]): Finding[] {
  const seen = new Map<string, string>();
  return linked.flatMap(({ name, signed: { seed } }) => {
    const earlier = seen.get(seed);
    seen.set(seed, earlier ?? name);
    if (earlier === undefined) return [];
    const error = new DrillproofError('challenge.INVALID', `it has the seed of ${earlier}`, {
      path: '/predicate/seed',
    });
    return findingsOf(error, name);
  });
}
