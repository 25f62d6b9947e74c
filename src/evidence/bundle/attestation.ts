import { BYTES, canonicalBytes, checkArguments, fromBase64url, toBase64url } from '../../bytes/index.ts';
import type * as z from 'zod';
import {
  type Attestation,
  attestationSchema,
  type ExportAttestation,
  exportAttestationSchema,
} from '../../contract/index.ts';
import { signChecked, type Signer } from '../../trust/index.ts';
import { parseDocument, typeDocument, type DocumentKind } from '../document.ts';
import { DEFAULT_LIMITS, EVIDENCE_LIMITS, type EvidenceLimits } from '../limits.ts';

export type Statement = Attestation['statement'];
export type ExportStatement = ExportAttestation['statement'];

const BUNDLE_KIND: DocumentKind<Attestation> = {
  schema: attestationSchema,
  code: 'attestation.INVALID',
  canonical: true,
};
const EXPORT_KIND: DocumentKind<ExportAttestation> = {
  schema: exportAttestationSchema,
  code: 'attestation.INVALID',
  canonical: true,
};

/**
 * Parses the bytes of `attestation.json` (formats §2). No signature is checked: `verifyAttestation` does that.
 * @throws DrillproofError `attestation.INVALID`, `json.NOT_CANONICAL`, and what `parseJson` throws
 * @example
 * const { statement } = parseAttestation(await readFile('attestation.json'));
 */
export function parseAttestation(
  bytes: Uint8Array,
  limits: Partial<EvidenceLimits> = DEFAULT_LIMITS,
): Attestation {
  checkArguments({ bytes: BYTES, limits: EVIDENCE_LIMITS }, { bytes, limits });
  const { documentBytes, jsonValues } = { ...DEFAULT_LIMITS, ...limits };
  return parseDocument(bytes, BUNDLE_KIND, { maxBytes: documentBytes, maxValues: jsonValues });
}

/** Types the bytes of `export-attestation.json`, as `parseAttestation` does. */
export const parseExportAttestation = (
  bytes: Uint8Array,
  limits: EvidenceLimits = DEFAULT_LIMITS,
): ExportAttestation =>
  parseDocument(bytes, EXPORT_KIND, { maxBytes: limits.documentBytes, maxValues: limits.jsonValues });

/** What is signed: the UTF-8 bytes of the RFC 8785 form of the statement, nothing before or after (formats §2). */
export const statementBytes = (statement: Statement | ExportStatement): Uint8Array =>
  canonicalBytes(statement);

/**
 * The DER bytes of a signature.
 * @throws DrillproofError `encoding.BASE64URL_INVALID`
 */
export const signatureBytes = (attestation: { readonly signature: string }): Uint8Array =>
  fromBase64url(attestation.signature);

/**
 * Types a statement that is to be signed, so that nothing is signed that no verifier would read.
 * @throws DrillproofError `pack.INPUT_INVALID`
 */
export const typeStatement = <S>(
  { shape }: { readonly shape: { readonly statement: z.ZodType<S> } },
  statement: S,
): S => typeDocument(statement, { schema: shape.statement, code: 'pack.INPUT_INVALID' });

/**
 * Signs a statement; `keyId` of the statement must be that of the signer.
 * @throws DrillproofError `trust.SIGNER_FAULT` for a signature that does not verify, and what the signer throws
 */
export async function attest<S extends Statement | ExportStatement>(
  statement: S,
  signer: Signer,
): Promise<Envelope<S>> {
  if (statement.keyId !== signer.keyId)
    throw new TypeError('the statement names another key than the signer has');
  const signature = toBase64url(await signChecked(signer, statementBytes(statement)));
  return {
    schemaVersion: 1,
    algorithm: 'ecdsa-p256-sha256',
    encoding: 'der-base64url',
    signature,
    statement,
  };
}

/** A statement with its signature. */
export type Envelope<S> = {
  schemaVersion: 1;
  algorithm: 'ecdsa-p256-sha256';
  encoding: 'der-base64url';
  signature: string;
  statement: S;
};
