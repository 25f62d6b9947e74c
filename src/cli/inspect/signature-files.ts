import { join } from 'node:path';
import { defined } from '../../bytes/index.ts';
import type { Attestation, ExportAttestation } from '../../contract/index.ts';
import { DrillproofError } from '../../errors.ts';
import { signatureBytes, statementBytes } from '../../evidence/index.ts';
import { writeNewFile } from '../../node/index.ts';
import { shellWord } from '../../report/index.ts';
import { publicKeyPem, type TrustStore } from '../../trust/index.ts';
import { writeOutputFolder } from '../shared/output/output-file.ts';

export type SignatureFiles = {
  readonly statementPath: string;
  readonly signaturePath: string;
  /** Absent if the caller gave no key: evidence never supplies its own. */
  readonly keyPath?: string;
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
  const [statementPath, signaturePath] = [join(folder, 'statement.json'), join(folder, 'signature.der')];
  const keyPath = join(folder, 'key.pem');
  const [statementWord, signatureWord, keyWord] = [statementPath, signaturePath, keyPath].map(shellWord);
  return {
    statementPath,
    signaturePath,
    ...defined({ keyPath: key && keyPath }),
    command: `openssl dgst -sha256 -verify ${keyWord} -signature ${signatureWord} ${statementWord}`,
  };
}
