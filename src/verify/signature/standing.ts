import type { Code } from '../../codes/index.ts';
import type { CheckId } from '../checks.ts';
import type {
  BundleReport,
  Check,
  CheckState,
  Completeness,
  ExportReport,
  Finding,
  SignedBy,
} from '../report.ts';

/**
 * What becomes of a signature under a trust store: a trusted key vouches for what it signs, it is refused, there is
 * none, or it could not be read.
 */
export type Standing = 'stands' | 'refused' | 'unsigned' | 'unread';

/** What a signature says of a bundle, or of the list of bundles of an export, under one trust store. */
export type SignatureStanding = {
  readonly kind: 'bundle' | 'list';
  /** Id of the bundle or export; where it could not be read, the path of the part or `export`. */
  readonly id: string;
  /** The part in its export. */
  readonly path?: string;
  readonly standing: Standing;
  readonly signer?: SignedBy;
  /** Codes of the errors and warnings, each once. */
  readonly codes: readonly Code[];
};

type Judged = {
  readonly checks: readonly Check[];
  readonly findings: readonly Finding[];
  readonly signer?: SignedBy;
};

/** The standing of a bundle, from its report at any depth or from the steps that judge its signature. */
export function bundleStanding(
  bundle: Judged & Pick<BundleReport, 'evidenceBundleId' | 'path' | 'signed'> & Partial<BundleReport>,
): SignatureStanding {
  const { evidenceBundleId, path, verdict, signer } = bundle;
  return {
    kind: 'bundle',
    id: evidenceBundleId ?? path ?? 'bundle',
    ...(path !== undefined && { path }),
    standing: verdict === 'incomplete' ? 'unread' : ofBundle(bundle),
    ...(signer !== undefined && { signer }),
    codes: codesOf(bundle.findings),
  };
}

function ofBundle({ checks, findings, signer, signed }: Parameters<typeof bundleStanding>[0]): Standing {
  if (!hasErrors(findings)) {
    if (signer !== undefined) return 'stands';
    return signed === false ? 'unsigned' : 'unread';
  }
  const ended = (id: CheckId): boolean =>
    checks.some(({ id: one, state }) => one === id && (state === 'passed' || state === 'failed'));
  // A signature that nobody got to see is not one that was refused.
  return ended('attestation.key') || ended('attestation.signature') ? 'refused' : 'unread';
}

/** The standing of the list of bundles, from the report of an export or from the steps that judge its signature. */
export function listStanding(
  list: Judged & { readonly completeness: Completeness } & Pick<ExportReport, 'evidenceExportId'>,
): SignatureStanding {
  const { evidenceExportId, signer } = list;
  return {
    kind: 'list',
    id: evidenceExportId ?? 'export',
    standing: ofList(list),
    ...(signer !== undefined && { signer }),
    codes: codesOf(list.findings),
  };
}

function ofList({ checks, findings, completeness }: Parameters<typeof listStanding>[0]): Standing {
  if (completeness === 'attested') return 'stands';
  const stateOf = (wanted: CheckId): CheckState | undefined => checks.find(({ id }) => id === wanted)?.state;
  if (stateOf('export.manifest') !== 'passed') return 'unread';
  const state = stateOf('export.attestation');
  if (state === 'not_applicable') return 'unsigned';
  if (state !== 'failed') return 'unread';
  return findings.some(({ class: is }) => is === 'untrusted' || is === 'expired' || is === 'mismatch')
    ? 'refused'
    : 'unread';
}

const hasErrors = (findings: readonly Finding[]): boolean =>
  findings.some(({ severity }) => severity === 'error');
const codesOf = (findings: readonly Finding[]): Code[] => [
  ...new Set(findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code)),
];
