import { EXPORT_ATTESTATION, type ExportStatement, parseExportAttestation } from '../../evidence/index.ts';
import { DrillproofError } from '../../errors.ts';
import { signedOf } from '../signature/attestation.ts';
import { verifySigned } from '../signature/signed.ts';
import { EXPORT } from './state.ts';
import { settingsOf, type VerifyOptions } from '../options.ts';

/**
 * What an export attestation says of its export, when a trusted key vouches for it: the word of a signer on which
 * manifest is the right one, where no manifest can be relied on. As nothing else tells the scope of the export, only a
 * key for the whole organization counts. `undefined` for anything else.
 */
export function attestedSubject(
  bytes: Uint8Array,
  options: VerifyOptions,
): ExportStatement['subject'] | undefined {
  const settings = settingsOf(options);
  if (settings.trust === undefined) return undefined;
  try {
    const attestation = parseExportAttestation(bytes, settings.limits);
    const { subject } = attestation.statement;
    const { organizationId } = subject;
    const scope = { purpose: 'export', organizationId, wholeOrganization: true } as const;
    const context = { subject: EXPORT, path: EXPORT_ATTESTATION, settings };
    const { trusted, findings } = verifySigned(signedOf(attestation), scope, context);
    return trusted && findings.every(({ severity }) => severity !== 'error') ? subject : undefined;
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}
