import { join } from 'node:path';
import type { Attestation, ExportAttestation } from '../../../contract/index.ts';
import { DrillproofError } from '../../../errors.ts';
import { signatureBytes, statementBytes } from '../../../evidence/index.ts';
import { publicKeyPem, type TrustStore } from '../../../trust/index.ts';
import { writeNewFile } from '../../../node/index.ts';
import { writeOutputFolder } from '../output/output-file.ts';

/** A signature as files that any tool can verify. */
export type SignatureFiles = {
  readonly statementPath: string;
  readonly signaturePath: string;
  /** Absent if the caller gave no key: evidence never supplies its own. */
  readonly keyPath?: string;
  /** The openssl command that verifies them. */
  readonly command: string;
};

/**
 * Writes the signed bytes, the DER signature and the public key of the caller's trust store into a new folder
 * (formats §2).
 * @throws DrillproofError `trust.KEY_UNKNOWN` when the trust store lacks the key; `io.EXISTS` and what writing throws
 */
export async function writeSignatureFiles(
  folder: string,
  attestation: Attestation | ExportAttestation,
  trust: TrustStore | undefined,
): Promise<SignatureFiles> {
  const { statement } = attestation;
  const { issuer, keyId } = statement;
  const key = trust?.find(issuer, keyId);
  if (trust !== undefined && key === undefined) {
    throw new DrillproofError('trust.KEY_UNKNOWN', `the trust store has no key ${keyId} of issuer ${issuer}`);
  }
  await writeOutputFolder(folder, async (inside) => {
    await writeNewFile(join(inside, 'statement.json'), [statementBytes(statement)]);
    await writeNewFile(join(inside, 'signature.der'), [signatureBytes(attestation)]);
    if (key !== undefined)
      await writeNewFile(join(inside, 'key.pem'), [Buffer.from(publicKeyPem(key.point))]);
  });
  const [statementPath, signaturePath, keyPath] = ['statement.json', 'signature.der', 'key.pem'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const words = [
    'openssl',
    'dgst',
    '-sha256',
    '-verify',
    keyPath,
    '-signature',
    signaturePath,
    statementPath,
  ];
  return {
    statementPath,
    signaturePath,
    ...(key !== undefined && { keyPath }),
    command: words.map(shellWord).join(' '),
  };
}

/** A word as a POSIX shell takes it. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
