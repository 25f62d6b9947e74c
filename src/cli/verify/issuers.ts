import { quoteShellWord } from '../../report/printable.ts';
import { closeAfter } from '../../bytes/async.ts';
import { readPartDocuments } from '../../evidence/bundle/part.ts';
import { DrillproofError } from '../../errors.ts';
import { readVerifyingKeys } from '../../node/keys/keys.ts';
import { keyIdOf } from '../../trust/key/key.ts';
import { MAX_KEY_SET_BYTES } from '../../trust/key/key-file.ts';
import type { BundleReport, ExportReport } from '../../verify/report.ts';
import type { Cli } from '../cli.ts';
import { readExportDocuments, readInput, withEvidence } from '../shared/input/input.ts';
import type { KeySpec, TrustOptions } from '../shared/options/options.ts';
import { markLookalikes } from '../../bytes/text/wording.ts';
import { usageError } from '../shared/options/values.ts';

type Claim = { readonly issuer: string; readonly keyId: string };

// People paste hints into shells, and the issuer comes from untrusted evidence.
const PLAIN = /^[\w.@:-]+$/;

export async function refuseMissingIssuer(cli: Cli, path: string | undefined, { key = [] }: TrustOptions) {
  const spec = key.find(({ issuer }) => issuer === undefined);
  if (spec === undefined || path === undefined) return;
  const ids = await readKeyIds(cli, spec);
  // A file without keys is reported where keys are read.
  if (ids === undefined) return;
  const claims = await readClaims(cli, path);
  const matching = claims.filter(({ keyId }) => ids.has(keyId));
  const problem = `--key ${spec.file} does not name the issuer of the key`;
  const issuer = matching[0]?.issuer;
  if (issuer === undefined) throw usageError(problem, formatAdvice(spec, claims));
  throw usageError(
    problem,
    `The evidence claims that this key belongs to the issuer ${JSON.stringify(issuer)}. Confirm that with the issuer, not with the evidence, then pass --key ${quoteShellWord(spec.file)},issuer=${PLAIN.test(issuer) ? issuer : 'NAME'}`,
  );
}

function formatAdvice({ file }: KeySpec, claims: readonly Claim[]): string {
  const pass = `pass --key ${quoteShellWord(file)},issuer=NAME`;
  const [claim] = claims;
  if (claim === undefined) return `Ask the owner of the key for the issuer, then ${pass}.`;
  const { issuer, keyId } = claim;
  return `The evidence claims the issuer ${JSON.stringify(issuer)} with another key, ${keyId}. Ask the issuer for that key, then ${pass}.`;
}

/** Reports a wrong issuer as a wrong call if the key itself signed the evidence. */
export async function refuseWrongIssuer(
  cli: Cli,
  path: string,
  report: ExportReport | BundleReport,
  { key = [], trust = [] }: TrustOptions,
): Promise<void> {
  if (key.length === 0 || trust.length > 0 || !hasUnknownKey(report)) return;
  const claims = await readClaims(cli, path);
  for (const spec of key) {
    const ids = await readKeyIds(cli, spec);
    const issuers = claims.filter(({ keyId }) => ids?.has(keyId) === true).map(({ issuer }) => issuer);
    if (issuers[0] === undefined || issuers.some((issuer) => key.some((other) => other.issuer === issuer)))
      continue;
    throw usageError(
      `wrong issuer: --key ${spec.file} names ${JSON.stringify(spec.issuer)}, and the evidence names ${JSON.stringify(issuers[0])} for the same key${markLookalikes(spec.issuer ?? '', issuers[0])}`,
      `Confirm the issuer with the owner of the key, not with the evidence, then pass --key ${quoteShellWord(spec.file)},issuer=NAME.`,
    );
  }
}

const hasUnknownKey = (report: ExportReport | BundleReport): boolean =>
  report.findings.some(({ code }) => code === 'trust.KEY_UNKNOWN') ||
  (report.kind === 'export' && report.parts.some(hasUnknownKey));

/** Reads the ids by which a statement may name the keys of a file. */
async function readKeyIds(cli: Cli, { file, keyId }: KeySpec): Promise<ReadonlySet<string> | undefined> {
  // Standard input can be read only once, and another function reads the keys from it.
  if (file === '-') return new Set();
  const bytes = await readInput(file, MAX_KEY_SET_BYTES, cli);
  try {
    const keys = readVerifyingKeys(bytes);
    return new Set(keys.flatMap((key) => [keyId ?? key.keyId, keyIdOf(key.point)]));
  } catch (error) {
    if (error instanceof DrillproofError) return undefined;
    throw error;
  }
}

/** Reads the signers that the list and the first signed part claim, and ignores unreadable ones. */
async function readClaims(cli: Cli, path: string): Promise<readonly Claim[]> {
  const claims: Claim[] = [];
  try {
    await withEvidence(cli, path, async (evidence) => {
      if (evidence.kind === 'part') {
        const { attestation } = await readPartDocuments(evidence.access);
        if (attestation !== undefined) claims.push(attestation.statement);
        return;
      }
      const { manifest, attestation } = await readExportDocuments(evidence.source);
      if (attestation !== undefined) claims.push(attestation.statement);
      const row = manifest.parts.find(({ signed }) => signed);
      const part = row && (await closeAfter(await evidence.source.open(row.path), readPartDocuments));
      if (part?.attestation !== undefined) claims.push(part.attestation.statement);
    });
  } catch (error) {
    if (!(error instanceof DrillproofError)) throw error;
  }
  return claims;
}
