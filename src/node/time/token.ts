import { createHash, X509Certificate } from 'node:crypto';
import type { Certificate, SignedData, SignerInfo, TSTInfo } from 'pkijs';
import { derTag, readDer, readDerItems } from '../../bytes/der.ts';
import { isDigest, type Digest } from '../../bytes/hash.ts';
import { fromHex, toHex } from '../../bytes/text/encoding.ts';
import { DrillproofError } from '../../errors.ts';
import { packageError } from '../fs-errors.ts';

/** The most bytes of a token or of a response. */
export const MAX_TOKEN_BYTES = 256 * 1024;
/** The most certificates in a token. */
const MAX_CERTIFICATES = 32;

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
/** ESSCertID, whose hash is SHA-1, and ESSCertIDv2, whose hash is SHA-256 unless it names another (RFC 5035 §3). */
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';

/** Digests that are strong enough. */
const DIGESTS: ReadonlyMap<string, string> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

type SignatureAlgorithm = { readonly type: 'rsa' | 'ec'; readonly hash?: string };
/** Signatures that are strong enough; without a hash, it is the digest that the signer names. */
const SIGNATURES: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  ['1.2.840.113549.1.1.1', { type: 'rsa' }],
  ['1.2.840.113549.1.1.11', { type: 'rsa', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { type: 'rsa', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { type: 'rsa', hash: 'sha512' }],
  ['1.2.840.10045.4.3.2', { type: 'ec', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { type: 'ec', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { type: 'ec', hash: 'sha512' }],
]);
const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const MIN_RSA_BITS = 2048;

/** A certificate, read by the library and by OpenSSL. */
export type ReadCertificate = {
  readonly der: Uint8Array;
  readonly parsed: Certificate;
  readonly x509: X509Certificate;
};

/** A timestamp token (RFC 3161), of which no signature is verified. */
export type Token = {
  /** What it is about. */
  readonly imprint: Digest;
  /** The time that the authority states, in ms since 1970. */
  readonly genTimeMs: number;
  /** The latest time that it can mean, with the accuracy: 1 s if the authority states none. */
  readonly latestMs: number;
  /** The nonce of the request, in hexadecimal. */
  readonly nonce?: string;
  readonly certificates: readonly ReadCertificate[];
  readonly signer: TokenSigner;
};

/** The signature of a token, and what names its certificate. */
export type TokenSigner = {
  readonly sid: SignerInfo['sid'];
  readonly certificateIds: readonly CertificateId[];
  readonly hash: string;
  readonly algorithm: SignatureAlgorithm;
  readonly signedAttributes: Uint8Array;
  readonly signature: Uint8Array;
};

type CertificateId = { readonly hash: string; readonly digest: Uint8Array };
type Library = typeof import('pkijs');

/** @throws DrillproofError `io.PACKAGE_MISSING` */
export async function loadLibrary(): Promise<Library> {
  try {
    return await import('pkijs'); // inside `try`, so that bundlers accept that it is not installed
  } catch (cause) {
    throw packageError(cause, 'a timestamp', 'pkijs');
  }
}

/** @throws DrillproofError `timestamp.INVALID` */
export function readX509(library: Library, der: Uint8Array): ReadCertificate {
  return asInvalid(() => {
    readDer(der);
    return { der, parsed: library.Certificate.fromBER(Uint8Array.from(der)), x509: new X509Certificate(der) };
  });
}

/**
 * Reads a TimeStampToken: CMS SignedData with one signer, around a TSTInfo with an imprint of SHA-256, whose digest the
 * signed attributes have.
 * @throws DrillproofError `timestamp.INVALID`, `timestamp.ALGORITHM_REFUSED`, `timestamp.SIGNATURE_INVALID`
 */
export function parseToken(library: Library, bytes: Uint8Array): Token {
  const data = asInvalid(() => openSignedData(library, bytes));
  const content = asInvalid(() => readContent(data));
  const info = asInvalid(() => library.TSTInfo.fromBER(Uint8Array.from(content)));
  const [signerInfo] = data.signerInfos;
  if (signerInfo === undefined || data.signerInfos.length !== 1)
    throw invalid(`it has ${data.signerInfos.length} signers, not one`);
  const certificates = asInvalid(() => readCertificates(library, data));
  return {
    imprint: readImprint(info),
    ...asInvalid(() => readTime(info)),
    ...asInvalid(() => readNonce(info)),
    certificates,
    signer: readSigner(signerInfo, content),
  };
}

function openSignedData(library: Library, bytes: Uint8Array): SignedData {
  if (bytes.length > MAX_TOKEN_BYTES) throw invalid(`it has more than ${MAX_TOKEN_BYTES} bytes`);
  const outer = readDer(bytes); // nothing follows it
  const [first] = outer.tag === derTag.sequence ? readDerItems(outer.contents) : [];
  if (first?.tag === derTag.sequence)
    throw invalid('it is a response of an authority, which contains a token');
  const info = library.ContentInfo.fromBER(Uint8Array.from(bytes));
  if (info.contentType !== SIGNED_DATA) throw invalid(`its content is ${info.contentType}, not SignedData`);
  return new library.SignedData({ schema: info.content });
}

function readContent({ encapContentInfo }: SignedData): Uint8Array {
  const { eContentType, eContent } = encapContentInfo;
  if (eContentType !== TST_INFO || eContent === undefined)
    throw invalid(`it signs ${eContentType}, not a TSTInfo`);
  const content = new Uint8Array(eContent.getValue());
  readDer(content);
  return content;
}

function readImprint({ messageImprint, version, extensions = [] }: TSTInfo): Digest {
  if (version !== 1) throw invalid(`its version is ${version}, not 1`);
  const critical = extensions.find((extension) => extension.critical);
  if (critical !== undefined) throw invalid(`its critical extension ${critical.extnID} is not known`);
  const { algorithmId } = messageImprint.hashAlgorithm;
  if (DIGESTS.get(algorithmId) !== 'sha256')
    throw refused(`it is about a digest of algorithm ${algorithmId}, not SHA-256`);
  const imprint = `sha256:${toHex(new Uint8Array(messageImprint.hashedMessage.getValue()))}`;
  if (!isDigest(imprint)) throw invalid('its imprint does not have the length of SHA-256');
  return imprint;
}

/** Without an accuracy, the time is that of a clock with whole seconds. */
function readTime({ genTime, accuracy }: TSTInfo): Pick<Token, 'genTimeMs' | 'latestMs'> {
  const genTimeMs = genTime.getTime();
  if (!Number.isSafeInteger(genTimeMs)) throw invalid('its time cannot be read');
  const { seconds = 0, millis = 0, micros = 0 } = accuracy ?? { seconds: 1 };
  const accuracyMs = seconds * 1000 + millis + Math.ceil(micros / 1000);
  if (!(accuracyMs >= 0)) throw invalid('its accuracy is negative');
  return { genTimeMs, latestMs: genTimeMs + accuracyMs };
}

const readNonce = ({ nonce }: TSTInfo): Pick<Token, 'nonce'> =>
  nonce === undefined ? {} : { nonce: toHex(nonce.valueBlock.valueHexView).replace(/^(?:00)+(?=..)/, '') };

function readCertificates(library: Library, { certificates = [] }: SignedData): readonly ReadCertificate[] {
  if (certificates.length > MAX_CERTIFICATES)
    throw invalid(`it has more than ${MAX_CERTIFICATES} certificates`);
  return certificates.flatMap((certificate) =>
    certificate instanceof library.Certificate
      ? [readX509(library, new Uint8Array(certificate.toSchema().toBER()))]
      : [],
  );
}

/** @throws DrillproofError `timestamp.SIGNATURE_INVALID` if the signed attributes are about other content */
function readSigner(info: SignerInfo, content: Uint8Array): TokenSigner {
  const hash = DIGESTS.get(info.digestAlgorithm.algorithmId);
  const algorithm = SIGNATURES.get(info.signatureAlgorithm.algorithmId);
  if (hash === undefined) throw refused(`its digest is of algorithm ${info.digestAlgorithm.algorithmId}`);
  if (algorithm === undefined)
    throw refused(`its signature is of algorithm ${info.signatureAlgorithm.algorithmId}`);
  const value = (type: string): Uint8Array | undefined => asInvalid(() => readAttribute(info, type));
  const contentType = value(CONTENT_TYPE);
  if (contentType === undefined || toHex(contentType) !== toHex(OID_TST_INFO))
    throw new DrillproofError('timestamp.SIGNATURE_INVALID', 'its signed attributes do not name a TSTInfo');
  const digest = asInvalid(() => readDer(value(MESSAGE_DIGEST) ?? new Uint8Array()).contents);
  if (toHex(digest) !== createHash(hash).update(content).digest('hex'))
    throw new DrillproofError('timestamp.SIGNATURE_INVALID', 'its signed attributes have a different digest');
  return {
    sid: info.sid,
    certificateIds: asInvalid(() => [
      ...readCertificateId(value(SIGNING_CERTIFICATE), 'sha1'),
      ...readCertificateId(value(SIGNING_CERTIFICATE_V2), 'sha256'),
    ]),
    hash: algorithm.hash ?? hash,
    algorithm,
    signedAttributes: new Uint8Array(info.signedAttrs?.encodedValue ?? new ArrayBuffer()),
    signature: new Uint8Array(info.signature.getValue()),
  };
}

const OID_TST_INFO = fromHex('060b2a864886f70d0109100104');

/** The DER of the only value of a signed attribute; `undefined` if there is no such attribute. */
function readAttribute({ signedAttrs }: SignerInfo, type: string): Uint8Array | undefined {
  const [attribute, ...more] = (signedAttrs?.attributes ?? []).filter((row) => row.type === type);
  if (attribute === undefined) return undefined;
  const [value, ...others] = attribute.values;
  if (value === undefined || more.length + others.length > 0)
    throw invalid(`its signed attribute ${type} has not one value`);
  return new Uint8Array(value.toBER());
}

/** The first certificate id of a SigningCertificate, which is that of the signer (RFC 5035 §4). */
function readCertificateId(attribute: Uint8Array | undefined, defaultHash: string): readonly CertificateId[] {
  if (attribute === undefined) return [];
  const [ids] = readDerItems(readDer(attribute).contents);
  const [id] = readDerItems(ids?.contents ?? new Uint8Array());
  const [first, second] = readDerItems(id?.contents ?? new Uint8Array());
  if (first?.tag !== derTag.sequence)
    return [{ hash: defaultHash, digest: first?.contents ?? new Uint8Array() }];
  const name = toHex(readDerItems(first.contents)[0]?.contents ?? new Uint8Array());
  const hash = HASHES_OF_IDS.get(name);
  if (hash === undefined) throw invalid(`its certificate id has a digest of unknown algorithm ${name}`);
  return [{ hash, digest: second?.contents ?? new Uint8Array() }];
}

/** The contents of their object identifiers. */
const HASHES_OF_IDS: ReadonlyMap<string, string> = new Map([
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
]);

/**
 * Why a key or the signature on a certificate is too weak; `undefined` if both are strong enough.
 * @param anchored the certificate itself is trusted, so the signature on it does not matter
 */
export function findWeakness({ parsed, x509 }: ReadCertificate, anchored: boolean): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = x509.publicKey;
  const { algorithmId } = parsed.signatureAlgorithm;
  if (!anchored && SIGNATURES.get(algorithmId)?.hash === undefined)
    return `it is signed with algorithm ${algorithmId}`;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= MIN_RSA_BITS) return undefined;
  if (type === 'ec' && CURVES.has(details?.namedCurve)) return undefined;
  return `its key is ${type ?? 'unknown'} ${details?.modulusLength ?? details?.namedCurve ?? ''}`;
}

/** Types what the library throws for bytes that it cannot read. */
function asInvalid<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof DrillproofError && cause.code.startsWith('timestamp.')) throw cause;
    throw invalid(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}

const invalid = (why: string, cause?: unknown): DrillproofError =>
  new DrillproofError('timestamp.INVALID', `not a timestamp token: ${why}`, { cause });
const refused = (why: string): DrillproofError => new DrillproofError('timestamp.ALGORITHM_REFUSED', why);
