import { isoTime } from '../../bytes/text/wording.ts';
import { count, countNoun } from '../../report/text/page.ts';
import { escapeText } from '../../report/printable.ts';
import { findCompromise } from '../../trust/check-key.ts';
import type { TrustedKey } from '../../trust/trusted-key.ts';
import type { TrustStore } from '../../trust/store.ts';
import { TRUST_OUTCOMES, type TrustEffect, type TrustOutcome } from '../../verify/signature/standing.ts';
import { EXIT, type ExitCode } from '../shared/output/exit.ts';
import { type Failure, buildFailureJson } from '../shared/output/failure.ts';
import { alignFacts, formatTable } from '../shared/output/product.ts';
import type { PlanOptions } from './command.ts';

export function formatKeys(store: TrustStore): string {
  const blocks = store.keys.map((key) =>
    alignFacts([
      ['issuer', key.issuer],
      ['key', key.keyId],
      ['valid for', key.purposes.join(', ')],
      ['period', formatValidity(key)],
      ['only for', formatScope(key)],
      ['verifies', formatCompromise(store, key)],
    ]),
  );
  return [...blocks, alignFacts([['fingerprint', store.fingerprint]])].join('\n');
}

/** Says that a key verifies nothing, because another name lists it as compromised. */
export function formatCompromise(store: TrustStore, key: TrustedKey): string | undefined {
  const other = findCompromise(store, key);
  if (other === undefined || other === key) return undefined;
  return `nothing: the same key is compromised as ${other.keyId} of ${other.issuer}`;
}

function formatValidity({
  notBeforeMs,
  notAfterMs,
  revokedAtMs,
  compromised,
  fromCertificate,
}: TrustedKey): string {
  const words = [
    ...(notBeforeMs === undefined ? [] : [`from ${formatDay(notBeforeMs)}`]),
    ...(notAfterMs === undefined ? [] : [`to ${formatDay(notAfterMs)}`]),
  ];
  if (revokedAtMs !== undefined)
    words.push(
      `revoked ${formatDay(revokedAtMs)}, ${compromised ? 'compromised' : 'earlier signatures stay valid'}`,
    );
  if (words.length === 0) words.push('always');
  return `${words.join(' ')}${fromCertificate === true ? ' (certificate)' : ''}`;
}

const formatDay = (atMs: number): string => isoTime(atMs).replace('T00:00:00.000Z', '');
const formatScope = ({ projects = [], organizations = [] }: TrustedKey): string | undefined =>
  projects.length + organizations.length === 0 ? undefined : [...organizations, ...projects].join(', ');

export type PlanResult = { readonly path: string } & (
  | { readonly effects: readonly TrustEffect[] }
  | { readonly failure: Failure }
);

export type Plan = {
  readonly key: TrustedKey;
  readonly how: PlanOptions['as'];
  readonly atMs: number;
  readonly asOfMs: number;
  readonly depth: PlanOptions['depth'];
  readonly before: TrustStore;
  readonly after: TrustStore;
  readonly replacements: readonly TrustedKey[];
  /** Other names of the same key. */
  readonly aliases: readonly TrustedKey[];
  readonly results: readonly PlanResult[];
};

const MAX_ROWS = 20;

const listEffects = (result: PlanResult): readonly TrustEffect[] =>
  'effects' in result ? result.effects : [];
const listAllEffects = ({ results }: Plan): readonly TrustEffect[] => results.flatMap(listEffects);

function countOutcomes(plan: Plan): Readonly<Record<TrustOutcome, number>> {
  const counts = { stops: 0, unread: 0, starts: 0, refused: 0, stands: 0, unsigned: 0 };
  for (const { outcome } of listAllEffects(plan)) counts[outcome]++;
  return counts;
}

const listUnopened = ({ results }: Plan) => results.filter((result) => 'failure' in result);

export function exitOfPlan(plan: Plan): ExitCode {
  const { stops, unread, unsigned } = countOutcomes(plan);
  if (stops > 0) return EXIT.bad;
  if (unread > 0 || listUnopened(plan).length > 0) return EXIT.unchecked;
  return listAllEffects(plan).length > unsigned ? EXIT.pass : EXIT.unchecked;
}

/** Counts evidence that would still verify at a time that only its signer claims. */
const countClaimed = (plan: Plan): number =>
  listAllEffects(plan).filter(
    ({ outcome, codes }) => outcome === 'stands' && codes.includes('attestation.TIME_CLAIMED'),
  ).length;

export function buildPlanProduct(plan: Plan): Readonly<Record<string, unknown>> {
  const { key, how, atMs, asOfMs, depth, before, after, replacements, aliases, results } = plan;
  return {
    kind: 'key-plan',
    retire: { ...selectName(key), how, atMs },
    replacements: replacements.map(selectName),
    sameKey: aliases.map(selectName),
    asOfMs,
    depth,
    trust: { before: describeTrust(before), after: describeTrust(after) },
    counts: { ...countOutcomes(plan), unopened: listUnopened(plan).length, timeClaimed: countClaimed(plan) },
    results: results.map((result) =>
      'effects' in result ? result : { path: result.path, error: buildFailureJson(result.failure) },
    ),
  };
}

export const selectName = ({ issuer, keyId }: TrustedKey) => ({ issuer, keyId });
const describeTrust = ({ fingerprint, keys }: TrustStore) => ({ fingerprint, keys: keys.length });

const HOW: Readonly<Record<Plan['how'], string>> = {
  revoked: 'is revoked',
  compromised: 'is revoked as compromised',
  expired: 'ends',
};

const DEPTHS: Readonly<Record<Plan['depth'], string>> = {
  attestations: 'signatures only; objects and archives were not read',
  full: 'everything, like verify',
};

export function formatPlan(plan: Plan): string {
  const { key, how, atMs, asOfMs, depth, before, after } = plan;
  const counts = countOutcomes(plan);
  const head = `${formatHeadline(plan)} when key ${key.keyId} of ${key.issuer} ${HOW[how]} at ${isoTime(atMs)}`;
  return [
    `${escapeText(head)}\n`,
    alignFacts([
      ['depth', DEPTHS[depth]],
      ['verified as of', isoTime(asOfMs)],
      ['trust store', before.fingerprint],
      ['would become', after.fingerprint],
      ...TRUST_OUTCOMES.map((outcome) => [WORDS[outcome], formatFigure(counts[outcome])] as const),
      ['time only claimed', formatFigure(countClaimed(plan))],
    ]),
    ...(['stops', 'starts', 'unread', 'refused'] as const).map((outcome) => formatSection(plan, outcome)),
    ...listUnopened(plan).map(
      ({ path, failure }) =>
        `\ncould not be opened: ${escapeText(`${path}: ${failure.code}: ${failure.message}`)}\n`,
    ),
    ...plan.aliases.map(
      (other) => escapeText(`\n${describeAlias(plan.how === 'compromised', other)}`) + '\n',
    ),
  ].join('');
}

/** What happens to another name of a key that is retired. */
export const describeAlias = (compromised: boolean, { keyId, issuer }: TrustedKey): string =>
  `the same key ${compromised ? 'verifies nothing' : 'stays trusted'} as ${keyId} of ${issuer}`;

function formatHeadline(plan: Plan): string {
  const { stops, unsigned } = countOutcomes(plan);
  const signatures = listAllEffects(plan).length - unsigned;
  if (signatures === 0) return 'NO SIGNATURE COULD BE READ,';
  if (stops > 0) return `${count(stops)} of ${countNoun(signatures, 'signature')} WOULD STOP VERIFYING`;
  return exitOfPlan(plan) === EXIT.pass
    ? `NOTHING WOULD STOP VERIFYING, of ${countNoun(signatures, 'signature')},`
    : `NOT EVERYTHING COULD BE READ; the rest would still verify`;
}

const WORDS: Readonly<Record<TrustOutcome, string>> = {
  stops: 'would stop',
  unread: 'could not be read',
  starts: 'would start',
  refused: 'already refused',
  stands: 'unchanged',
  unsigned: 'unsigned',
};

const formatFigure = (n: number): string | undefined => (n === 0 ? undefined : count(n));

function formatSection(plan: Plan, outcome: TrustOutcome): string {
  const rows = plan.results.flatMap((result) =>
    listEffects(result)
      .filter((effect) => effect.outcome === outcome)
      .map((effect) => formatRow(result.path, effect)),
  );
  const omitted = rows.length - MAX_ROWS;
  const more = omitted > 0 ? `and ${count(omitted)} more; --json lists them all\n` : '';
  const heading = ['IN', 'WHAT', 'SIGNED', 'WHY'];
  return rows.length === 0
    ? ''
    : `\n${WORDS[outcome]}:\n${formatTable(heading, rows.slice(0, MAX_ROWS))}${more}`;
}

const formatRow = (path: string, { kind, id, signer, codes }: TrustEffect): readonly string[] => [
  path,
  kind === 'list' ? `list of ${id}` : id,
  signer === undefined ? '-' : isoTime(signer.issuedAtMs),
  codes.join(' '),
];
