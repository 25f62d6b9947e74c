import { createHash, verify } from 'node:crypto';
import type { BasicConstraints, ExtKeyUsage, Extension, IssuerAndSerialNumber } from 'pkijs';
import { isoTime } from '../../bytes/text/wording.ts';
import { toHex } from '../../bytes/text/encoding.ts';
import type { TrustedCertificate } from '../../trust/certificate.ts';
import type { Code } from '../../codes/catalogue.ts';
import { findWeakness, type ReadCertificate, type Token } from './token.ts';

/** A certificate that the caller trusts, read. */
export type Anchor = ReadCertificate & { readonly trusted: TrustedCertificate };

/** Why a token does not count, although its bytes are in order. */
export type TokenProblem = {
  readonly code: Code;
  readonly message: string;
  /** The authority was compromised at this time, so a renewal before it saves the token. */
  readonly savedBeforeMs?: number;
};

/** The trusted authority of a token, and why it does not count, if it does not. */
export type AuthorityResult = { readonly anchor?: Anchor; readonly problem?: TokenProblem };

const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const ANY_USAGE = '2.5.29.37.0';
const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_USAGE = '2.5.29.37';
/** Critical extensions that are checked, or that restrict nothing here: policies and alternative names. */
const KNOWN = new Set([
  BASIC_CONSTRAINTS,
  KEY_USAGE,
  EXTENDED_USAGE,
  '2.5.29.32',
  '2.5.29.17',
  '2.5.29.35',
  '2.5.29.14',
]);
/** Certificates in a chain. */
const MAX_DEPTH = 8;
/** Pairs of certificates that are compared, because a token could contain many that issue each other. */
const MAX_STEPS = 500;

/**
 * Finds the certificate that signed a token, by what the signed attributes say and never by its place, verifies the
 * signature with it, and finds a chain from it to a trusted certificate that was valid at the time of the token.
 */
export function checkAuthority(token: Token, anchors: readonly Anchor[]): AuthorityResult {
  const pool = [...anchors, ...token.certificates.filter((other) => !anchors.some(isSame(other)))];
  const signer = pool.find((certificate) => isNamedSigner(token, certificate));
  if (signer === undefined)
    return problem(
      'timestamp.CERTIFICATE_INVALID',
      'no certificate is the one that its signed attributes name',
    );
  const chains = listChains(signer, pool, anchors);
  if (chains.length === 0)
    return problem('timestamp.AUTHORITY_UNKNOWN', `no trusted certificate issued ${nameOf(signer)}`);
  const weak = findWeakness(signer, true); // its chain is checked below
  if (weak !== undefined)
    return problem('timestamp.ALGORITHM_REFUSED', `${nameOf(signer)} is too weak: ${weak}`);
  if (!isSignedWith(token, signer))
    return problem('timestamp.SIGNATURE_INVALID', `its signature does not verify with ${nameOf(signer)}`);
  const unfit = findUnfitSigner(signer);
  if (unfit !== undefined)
    return problem('timestamp.CERTIFICATE_INVALID', `${nameOf(signer)} may not sign timestamps: ${unfit}`);
  const results = chains.map(({ anchor, path }): AuthorityResult => {
    const fault = findChainProblem(path, token) ?? findTrustProblem(anchor.trusted, token);
    return fault === undefined ? { anchor } : { anchor, problem: fault };
  });
  return results.find((result) => result.problem === undefined) ?? results[0]!;
}

const problem = (code: Code, message: string): AuthorityResult => ({ problem: { code, message } });
const nameOf = ({ x509 }: ReadCertificate): string => JSON.stringify(x509.subject.replaceAll('\n', ', '));
const isSame =
  ({ der }: ReadCertificate) =>
  (other: ReadCertificate): boolean =>
    Buffer.compare(der, other.der) === 0;

/** ESSCertID and the id of the signer must both name it (RFC 5816 §2.2.1). */
function isNamedSigner(
  { signer: { sid, certificateIds } }: Token,
  { der, parsed }: ReadCertificate,
): boolean {
  const named = certificateIds.every(
    ({ hash, digest }) => createHash(hash).update(der).digest('hex') === toHex(digest),
  );
  return certificateIds.length > 0 && named && (!isSerial(sid) || isIssuerAndSerial(sid, parsed));
}

const isSerial = (sid: unknown): sid is IssuerAndSerialNumber =>
  typeof sid === 'object' && sid !== null && 'serialNumber' in sid;

const isIssuerAndSerial = (sid: IssuerAndSerialNumber, parsed: ReadCertificate['parsed']): boolean =>
  sid.issuer.isEqual(parsed.issuer) && sid.serialNumber.isEqual(parsed.serialNumber);

function isSignedWith({ signer }: Token, { x509 }: ReadCertificate): boolean {
  const { algorithm, hash, signedAttributes, signature } = signer;
  if (x509.publicKey.asymmetricKeyType !== algorithm.type) return false;
  return verify(hash, signedAttributes, x509.publicKey, signature);
}

type Chain = { readonly anchor: Anchor; readonly path: readonly ReadCertificate[] };

/** Every chain from a certificate to the first trusted one, the signer first. */
function listChains(
  signer: ReadCertificate,
  pool: readonly ReadCertificate[],
  anchors: readonly Anchor[],
): readonly Chain[] {
  let steps = 0;
  const extend = (path: readonly ReadCertificate[]): readonly Chain[] => {
    const last = path.at(-1)!;
    const anchor = anchors.find(isSame(last));
    if (anchor !== undefined) return [{ anchor, path }];
    if (path.length === MAX_DEPTH) return [];
    return pool.flatMap((issuer) => {
      if (++steps > MAX_STEPS || path.includes(issuer) || !isIssuedBy(last, issuer)) return [];
      return extend([...path, issuer]);
    });
  };
  return extend([signer]);
}

const isIssuedBy = ({ x509 }: ReadCertificate, issuer: ReadCertificate): boolean =>
  x509.checkIssued(issuer.x509) && x509.verify(issuer.x509.publicKey);

const findExtension = ({ parsed }: ReadCertificate, id: string): Extension | undefined =>
  parsed.extensions?.find(({ extnID }) => extnID === id);

const listUsages = (extension: Extension | undefined): readonly string[] | undefined =>
  extension && (extension.parsedValue as ExtKeyUsage | undefined)?.keyPurposes;

/** The bits of a key usage by their numbers (RFC 5280 §4.2.1.3); `undefined` if it is not limited. */
function readKeyUsage(certificate: ReadCertificate): number | undefined {
  const value = findExtension(certificate, KEY_USAGE)?.extnValue.valueBlock.valueHexView;
  return value === undefined ? undefined : (value[3] ?? 0);
}
const [DIGITAL_SIGNATURE, NON_REPUDIATION, CERTIFICATE_SIGN] = [0x80, 0x40, 0x04];

/** RFC 3161 §2.3: exactly one purpose, timeStamping, in a critical extension; and the certificate is not an authority's. */
function findUnfitSigner(signer: ReadCertificate): string | undefined {
  const extension = findExtension(signer, EXTENDED_USAGE);
  const usages = listUsages(extension) ?? [];
  if (usages.length !== 1 || usages[0] !== TIME_STAMPING)
    return 'timeStamping is not its only extended key usage';
  if (extension?.critical !== true) return 'its extended key usage is not critical';
  if (signer.x509.ca) return 'it issues certificates';
  const usage = readKeyUsage(signer);
  if (usage !== undefined && (usage & (DIGITAL_SIGNATURE | NON_REPUDIATION)) === 0)
    return 'its key usage does not allow signatures';
  return undefined;
}

/** RFC 5280 §6.1 at the time of the token, from the signer to the trusted certificate. */
function findChainProblem(path: readonly ReadCertificate[], { genTimeMs }: Token): TokenProblem | undefined {
  const anchor = path.at(-1);
  for (const [depth, certificate] of path.entries()) {
    const reason = findPeriodProblem(certificate, genTimeMs) ?? findCritical(certificate);
    const why = reason ?? (depth === 0 ? undefined : findUnfitIssuer(certificate, depth - 1));
    if (why !== undefined)
      return { code: 'timestamp.CHAIN_INVALID', message: `${nameOf(certificate)} ${why}` };
    const weak = findWeakness(certificate, certificate === anchor);
    if (weak !== undefined)
      return { code: 'timestamp.ALGORITHM_REFUSED', message: `${nameOf(certificate)} is too weak: ${weak}` };
  }
  return undefined;
}

function findPeriodProblem({ parsed }: ReadCertificate, atMs: number): string | undefined {
  const [from, to] = [parsed.notBefore.value.getTime(), parsed.notAfter.value.getTime()];
  if (from <= atMs && atMs < to + 1000) return undefined; // it ends with its last second
  return `was not valid at ${isoTime(atMs)}, but from ${isoTime(from)} to ${isoTime(to)}`;
}

function findCritical({ parsed: { extensions = [] } }: ReadCertificate): string | undefined {
  const unknown = extensions.find(({ critical, extnID }) => critical && !KNOWN.has(extnID));
  return unknown && `has the critical extension ${unknown.extnID}, which is not known here`;
}

/** @param below the number of issuers between it and the signer */
function findUnfitIssuer(issuer: ReadCertificate, below: number): string | undefined {
  const constraints = findExtension(issuer, BASIC_CONSTRAINTS)?.parsedValue as BasicConstraints | undefined;
  if (constraints?.cA !== true) return 'is not a certificate authority';
  const limit = constraints.pathLenConstraint;
  if (limit !== undefined && below > (typeof limit === 'number' ? limit : limit.valueBlock.valueDec))
    return 'allows no certificate authority below it';
  const usage = readKeyUsage(issuer);
  if (usage !== undefined && (usage & CERTIFICATE_SIGN) === 0) return 'may not sign certificates';
  // An extended key usage of an issuer limits what it may issue. It neither replaces that of the signer nor is required.
  const usages = listUsages(findExtension(issuer, EXTENDED_USAGE));
  if (usages !== undefined && !usages.some((id) => id === TIME_STAMPING || id === ANY_USAGE))
    return 'is limited to other purposes than timeStamping';
  return undefined;
}

/** The limits that the caller sets for an authority. */
function findTrustProblem(
  { issuer, notBeforeMs = -Infinity, notAfterMs = Infinity, revokedAtMs, compromised }: TrustedCertificate,
  { genTimeMs, latestMs }: Token,
): TokenProblem | undefined {
  const code = 'timestamp.AUTHORITY_REVOKED';
  if (genTimeMs < notBeforeMs || latestMs > notAfterMs)
    return { code, message: `the certificate of ${issuer} is not trusted at ${isoTime(genTimeMs)}` };
  if (revokedAtMs === undefined || (!compromised && latestMs < revokedAtMs)) return undefined;
  const message = `the certificate of ${issuer} is revoked since ${isoTime(revokedAtMs)}`;
  return compromised
    ? {
        code,
        message: `${message} as compromised, and no renewal before that saves the token`,
        savedBeforeMs: revokedAtMs,
      }
    : { code, message };
}
