import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { fromBase64url, toBase64url } from '../../bytes/text/encoding.ts';
import type * as z from 'zod/mini';
import {
  type Attestation,
  attestationSchema,
  type ExportAttestation,
  exportAttestationSchema,
  SIGNATURE_ALGORITHM,
  SIGNATURE_ENCODING,
} from '../../contract/resources/attestation.ts';
import { signChecked, type Signer } from '../../trust/key/signer.ts';
import { documentParser, typeDocument } from '../document.ts';

export type Statement = Attestation['statement'];
export type ExportStatement = ExportAttestation['statement'];

/**
 * Parses the bytes of `attestation.json` (formats §2). No signature is checked: `verifyAttestation` does that.
 * @throws DrillproofError `attestation.INVALID`, `json.NOT_CANONICAL`, and what `parseJson` throws
 * @example
 * const { statement } = parseAttestation(await readFile('attestation.json'));
 */
export const parseAttestation = documentParser<Attestation>({
  schema: attestationSchema,
  code: 'attestation.INVALID',
  canonical: true,
  limit: 'documentBytes',
});

/** Types the bytes of `export-attestation.json`, as `parseAttestation` does. */
export const parseExportAttestation = documentParser<ExportAttestation>({
  schema: exportAttestationSchema,
  code: 'attestation.INVALID',
  canonical: true,
  limit: 'documentBytes',
});

/** The signed bytes: the UTF-8 of the RFC 8785 form of the statement, with nothing before or after (formats §2). */
export const encodeStatement = (statement: Statement | ExportStatement): Uint8Array =>
  canonicalBytes(statement);

const HEAD = {
  algorithm: SIGNATURE_ALGORITHM,
  encoding: SIGNATURE_ENCODING,
  schemaVersion: 1,
  signature: '',
};
const HEAD_BYTES = canonicalBytes(HEAD).length - '""}'.length;

/** `encodeStatement` of a parsed attestation, as a slice of its canonical bytes: the statement is the last member. */
export function sliceStatement(
  document: Uint8Array,
  { signature }: { readonly signature: string },
): Uint8Array {
  const written = BASE64URL.test(signature) ? signature.length + 2 : canonicalBytes(signature).length;
  return document.subarray(HEAD_BYTES + written + ',"statement":'.length, -1);
}

/** Text that JSON does not escape, and that takes a byte for each character. */
const BASE64URL = /^[\w-]*$/;

/**
 * The DER bytes of a signature.
 * @throws DrillproofError `encoding.BASE64URL_INVALID`
 */
export const decodeSignatureBytes = (attestation: { readonly signature: string }): Uint8Array =>
  fromBase64url(attestation.signature);

/**
 * Types a statement before it is signed, so that every statement that is signed can be read by verifiers.
 * @throws DrillproofError `pack.INPUT_INVALID`
 */
export const typeStatement = <S>(
  { shape }: { readonly shape: { readonly statement: z.ZodMiniType<S> } },
  statement: S,
): S => typeDocument(statement, { schema: shape.statement, code: 'pack.INPUT_INVALID' });

export type Attested<S> = Omit<Attestation, 'statement'> & { readonly statement: S };

/**
 * Signs a statement; `keyId` of the statement must be that of the signer.
 * @throws DrillproofError `trust.SIGNER_FAULT` for a signature that does not verify, and what the signer throws
 */
export async function attest<S extends Statement | ExportStatement>(
  statement: S,
  signer: Signer,
): Promise<Attested<S>> {
  if (statement.keyId !== signer.keyId)
    throw new TypeError('the key id of the statement differs from that of the signer');
  const signature = toBase64url(await signChecked(signer, encodeStatement(statement)));
  return {
    schemaVersion: 1,
    algorithm: SIGNATURE_ALGORITHM,
    encoding: SIGNATURE_ENCODING,
    signature,
    statement,
  };
}
