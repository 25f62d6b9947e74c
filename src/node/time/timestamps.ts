import {
  AMOUNT,
  BYTES,
  checkArguments,
  defined,
  listOf,
  type MembersOf,
  OBJECT,
  optional,
  optionsOf,
  TEXT,
  TIME,
  withMembers,
} from '../../bytes/arguments.ts';
import { digestOf, type Digest } from '../../bytes/hash.ts';
import { isoTime } from '../../bytes/text/wording.ts';
import type { TrustedCertificate } from '../../trust/certificate.ts';
import { resolveTrust, type Trust } from '../../trust/store.ts';
import { finding, findingsOf } from '../../verify/finding.ts';
import type { CheckedTimestamp } from '../../verify/timestamps.ts';
import type { Finding } from '../../verify/report.ts';
import { type Anchor, checkAuthority, type TokenProblem } from './authority.ts';
import { loadLibrary, parseToken, readX509 } from './token.ts';

/** A timestamp token (RFC 3161), and the name of its file. */
export type TokenFile = { readonly name: string; readonly token: Uint8Array };

/** The options of `verifyTimestamps`. Only `asOfMs` is required. */
export type VerifyTimestampsOptions = {
  /** The time of the verification, a Date or ms since 1970: tokens of a later time are refused. */
  readonly asOfMs: number | Date;
  /** The trust store; only its certificates count. */
  readonly trust?: Trust | undefined;
  /** Tolerance in ms for tokens of a later time; default 0. */
  readonly clockSkewMs?: number;
};

const OPTIONS: MembersOf<VerifyTimestampsOptions> = {
  asOfMs: TIME,
  trust: optional(OBJECT),
  clockSkewMs: optional(AMOUNT),
};
const FILES = listOf(withMembers('a token with its name', { name: TEXT, token: BYTES }));

/**
 * Verifies timestamp tokens (RFC 3161) offline: each against the certificates of the trust store at the time of the token, and
 * renewals, which are tokens about tokens (formats §9). Pass the result as `timestamps` to a verification of evidence.
 * Never throws for what is in the bytes.
 * @throws DrillproofError `io.PACKAGE_MISSING` if the store has certificates and `pkijs` is not installed
 * @example
 * const file = { name: 'part.zip.tst', token: await readFile('part.zip.tst') };
 * const timestamps = await verifyTimestamps([file], { asOfMs: Date.now(), trust });
 * const report = await verifyPart(await openFile('part.zip'), { asOfMs: Date.now(), trust, timestamps });
 */
export async function verifyTimestamps(
  files: readonly TokenFile[],
  options: VerifyTimestampsOptions,
): Promise<readonly CheckedTimestamp[]> {
  checkArguments({ files: FILES, options: optionsOf(OPTIONS) }, { files, options });
  const { trust } = options;
  const certificates = trust === undefined ? [] : (resolveTrust(trust).certificates ?? []);
  if (files.length === 0) return [];
  if (certificates.length === 0) return files.map(buildUnchecked);
  const library = await loadLibrary();
  const anchors = certificates.flatMap((trusted) => readAnchor(library, trusted));
  const tokens = files.map((file) => verifyToken(file, anchors, { library, ...options }));
  return renew(tokens).map(({ problem, name, findings, authority, ...facts }) => {
    const why =
      problem === undefined ? [] : [finding(problem.code, SUBJECT, { path: name, message: problem.message })];
    const all: readonly Finding[] = [...findings, ...why];
    const counts = authority !== undefined && all.length === 0;
    return { name, ...facts, ...(counts && { authority }), findings: all };
  });
}

const SUBJECT = 'timestamp';

const buildUnchecked = ({ name, token }: TokenFile): CheckedTimestamp => {
  const message = 'the trust store has no certificate of a time authority, so the token was not checked';
  return {
    name,
    digest: digestOf(token),
    findings: [finding('timestamp.NOT_CHECKED', SUBJECT, { path: name, message })],
  };
};

type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** A certificate that cannot be read is trusted for nothing. */
function readAnchor(library: Library, trusted: TrustedCertificate): readonly Anchor[] {
  try {
    return [{ ...readX509(library, trusted.certificate), trusted }];
  } catch {
    return [];
  }
}

type VerifiedToken = CheckedTimestamp & { readonly problem?: TokenProblem };

function verifyToken(
  { name, token: bytes }: TokenFile,
  anchors: readonly Anchor[],
  { library, asOfMs, clockSkewMs = 0 }: VerifyTimestampsOptions & { readonly library: Library },
): VerifiedToken {
  const digest = digestOf(bytes);
  try {
    const token = parseToken(library, bytes);
    const { imprint, genTimeMs, latestMs: atMs } = token;
    const { anchor, problem } = checkAuthority(token, anchors);
    const isFuture = genTimeMs > Number(asOfMs) + clockSkewMs;
    const future = {
      path: name,
      message: 'the token states a time after that of this verification',
      expected: `at most ${isoTime(Number(asOfMs))}`,
      actual: isoTime(genTimeMs),
    };
    const findings = isFuture ? [finding('timestamp.IN_FUTURE', SUBJECT, future)] : [];
    const authority = anchor?.trusted.issuer;
    return { name, digest, imprint, atMs, ...defined({ authority, problem }), findings };
  } catch (error) {
    return { name, digest, findings: findingsOf(error, SUBJECT, name) };
  }
}

/**
 * Removes the problem of each token of a compromised authority that a counting token proves to be older than the
 * compromise. A renewal may need a renewal itself, so this repeats until nothing changes.
 */
function renew(tokens: readonly VerifiedToken[]): readonly VerifiedToken[] {
  const provenMs = new Map<Digest, number>();
  for (const { imprint, atMs, problem, findings } of tokens)
    if (imprint !== undefined && atMs !== undefined && problem === undefined && findings.length === 0)
      provenMs.set(imprint, Math.min(atMs, provenMs.get(imprint) ?? Infinity));
  const next = tokens.map(({ problem, ...token }) =>
    problem === undefined || (provenMs.get(token.digest) ?? Infinity) < (problem.savedBeforeMs ?? -Infinity)
      ? token
      : { ...token, problem },
  );
  const count = (list: readonly VerifiedToken[]): number =>
    list.filter(({ problem }) => problem !== undefined).length;
  return count(next) === count(tokens) ? next : renew(next);
}
