import { defined } from '../../bytes/arguments.ts';
import type { Code } from '../../codes/catalogue.ts';
import type { CheckId } from '../checks.ts';
import type { BundleReport, CheckState, Completeness, ExportReport, Finding, SignedBy } from '../report.ts';
import type { Step } from '../step.ts';

/**
 * The state of a signature under a trust store: valid by a trusted key (`stands`), refused, missing (`unsigned`), or
 * unread.
 */
export type Standing = 'stands' | 'refused' | 'unsigned' | 'unread';

/** The signature of a bundle, or of the list of bundles of an export, under one trust store. */
export type SignatureStanding = {
  readonly kind: 'bundle' | 'list';
  /** The id of the bundle or export; if it could not be read, the path of the part or `export`. */
  readonly id: string;
  /** The part in its export. */
  readonly path?: string;
  readonly standing: Standing;
  readonly signer?: SignedBy;
  /** Codes of the errors and warnings, each once. */
  readonly codes: readonly Code[];
};

type SignedStep = Step & { readonly signer?: SignedBy };

/** The standing of a bundle, from its report at any depth or from the steps that verify its signature. */
export function findBundleStanding(
  bundle: SignedStep & Pick<BundleReport, 'evidenceBundleId' | 'path' | 'signed'> & Partial<BundleReport>,
): SignatureStanding {
  const { evidenceBundleId, path, verdict, signer, findings } = bundle;
  return defined({
    kind: 'bundle',
    id: evidenceBundleId ?? path ?? 'bundle',
    path,
    standing: verdict === 'incomplete' ? 'unread' : decideBundleStanding(bundle),
    signer,
    codes: listCodes(findings),
  } as const);
}

function decideBundleStanding({
  checks,
  findings,
  signer,
  signed,
}: Parameters<typeof findBundleStanding>[0]): Standing {
  if (!findings.some(({ severity }) => severity === 'error')) {
    if (signer !== undefined) return 'stands';
    return signed === false ? 'unsigned' : 'unread';
  }
  // A signature that was never checked is unread, not refused.
  const checked = checks.some(
    ({ id, state }) =>
      (id === 'attestation.key' || id === 'attestation.signature') &&
      (state === 'passed' || state === 'failed'),
  );
  return checked ? 'refused' : 'unread';
}

/** The standing of the list of bundles, from the report of an export or from the steps that verify its signature. */
export function findListStanding(
  list: SignedStep & { readonly completeness: Completeness } & Pick<ExportReport, 'evidenceExportId'>,
): SignatureStanding {
  const { evidenceExportId, signer, findings } = list;
  return defined({
    kind: 'list',
    id: evidenceExportId ?? 'export',
    standing: decideListStanding(list),
    signer,
    codes: listCodes(findings),
  } as const);
}

const REFUSING: ReadonlySet<Finding['class']> = new Set(['untrusted', 'expired', 'mismatch'] as const);

function decideListStanding({
  checks,
  findings,
  completeness,
}: Parameters<typeof findListStanding>[0]): Standing {
  if (completeness === 'attested') return 'stands';
  const stateOf = (wanted: CheckId): CheckState | undefined => checks.find(({ id }) => id === wanted)?.state;
  if (stateOf('export.manifest') !== 'passed') return 'unread';
  const state = stateOf('export.attestation');
  if (state === 'not_applicable') return 'unsigned';
  if (state !== 'failed') return 'unread';
  return findings.some((finding) => REFUSING.has(finding.class)) ? 'refused' : 'unread';
}

const listCodes = (findings: readonly Finding[]): Code[] => [
  ...new Set(findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code)),
];

/** The effects that a change of the trust store can have on a signature. */
export const TRUST_OUTCOMES = ['stops', 'unread', 'starts', 'refused', 'stands', 'unsigned'] as const;

/**
 * `stops`: it verifies now and would not then. `starts`: the reverse. `stands`: both. `refused`: neither. `unsigned`:
 * there is no signature. `unread`: its signature could not be verified.
 */
export type TrustOutcome = (typeof TRUST_OUTCOMES)[number];

export type TrustEffect = {
  readonly kind: SignatureStanding['kind'];
  readonly id: string;
  readonly path?: string;
  readonly outcome: TrustOutcome;
  /** The signer, if a key of one of the stores is valid for it. */
  readonly signer?: SignedBy;
  /** The codes that the changed store adds; if the outcome is `unread` or `refused`, all codes. */
  readonly codes: readonly Code[];
};

/** Compares the standing of each signature before and after a change of the trust store. */
export function compareStandings(
  before: readonly SignatureStanding[],
  after: readonly SignatureStanding[],
): TrustEffect[] {
  if (before.length !== after.length) throw new TypeError('the two lists are about different evidence');
  return before.map((standing, at) => compareStanding(standing, after[at]!));
}

function compareStanding(before: SignatureStanding, after: SignatureStanding): TrustEffect {
  const outcome = decideOutcome(before, after);
  const open = outcome === 'unread' || outcome === 'refused';
  return defined({
    kind: before.kind,
    id: before.id,
    path: before.path,
    outcome,
    signer: open ? undefined : (before.signer ?? after.signer),
    codes: open ? after.codes : after.codes.filter((code) => !before.codes.includes(code)),
  });
}

function decideOutcome(
  { standing: before }: SignatureStanding,
  { standing: after }: SignatureStanding,
): TrustOutcome {
  if (before === 'unread' || after === 'unread') return 'unread';
  if (before === 'unsigned' && after === 'unsigned') return 'unsigned';
  if (before === 'stands') return after === 'stands' ? 'stands' : 'stops';
  return after === 'stands' ? 'starts' : 'refused';
}
