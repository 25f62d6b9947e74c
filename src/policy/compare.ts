import { groupBy } from '../bytes/async.ts';
import { defined } from '../bytes/arguments.ts';
import { finding } from '../verify/finding.ts';
import type { BundleReport } from '../verify/report.ts';
import { RULES, type RuleId } from './catalogue.ts';
import type { Decision, EvaluatedInput, EvidenceUsed } from './decision.ts';
import { DURATION, durationMs } from './document/values.ts';
import type { EvidenceInput } from './facts.ts';
import type { Policy } from './policy.ts';
import { formatSelections, listScopes } from './rules/sets.ts';
import { formatWaived } from './waivers.ts';

/** What a policy requires, or what it accepts although a rule does not hold. */
type Row = {
  /** The rule and the runs that it is about, or what a waiver is about. */
  readonly name: string;
  readonly rule?: RuleId;
  readonly value: unknown;
  readonly words: string;
};

export type PolicyChange = {
  readonly name: string;
  /** `different`: which of the two is stricter depends on the evidence. */
  readonly change: 'stricter' | 'weaker' | 'different';
  readonly before?: string;
  readonly after?: string;
};

const listRequired = ({ layers }: Policy): readonly Row[] =>
  layers.flatMap((layer) =>
    listScopes(layer).flatMap(({ rules, selections }) =>
      [...rules].map(([rule, { value, sentence: words }]) => {
        const about = formatSelections(selections);
        return { name: about === '' ? rule : `${rule} ${about}`, rule, value, words };
      }),
    ),
  );

const listAccepted = ({ layers }: Policy): readonly Row[] =>
  layers.flatMap(({ waivers = [], enforcement = {} }) => [
    ...waivers.map((waiver) => {
      const { code, since, expires } = waiver;
      const from = since === undefined ? '' : `from ${since} `;
      return {
        name: `waiver of ${code}`,
        value: waiver,
        words: `${formatWaived(waiver)} ${from}until ${expires}`,
      };
    }),
    ...Object.entries(enforcement).map(([rule, value]) => ({
      name: `enforcement of ${rule}`,
      value,
      words: value.effectiveFrom === undefined ? 'only warns' : `only warns before ${value.effectiveFrom}`,
    })),
  ]);

const readAmount = (value: unknown): number =>
  typeof value === 'string' && DURATION.test(value) ? durationMs(value) : Number(value);

function compareRow(before: Row, after: Row): PolicyChange['change'] {
  const [a, b] = [before.value, after.value];
  const kind = before.rule === undefined ? undefined : RULES[before.rule].stricter;
  if (a === 'intact' || b === 'intact') return a === 'intact' ? 'stricter' : 'weaker';
  if (kind === 'more' || kind === 'less')
    return readAmount(a) < readAmount(b) === (kind === 'more') ? 'stricter' : 'weaker';
  if (kind === undefined || !Array.isArray(a) || !Array.isArray(b)) return 'different';
  const [left, right] = [a, b].map((items) => new Set(items.map((item) => JSON.stringify(item)))) as [
    Set<string>,
    Set<string>,
  ];
  const isLess = [...right].every((item) => left.has(item));
  const isMore = [...left].every((item) => right.has(item));
  if (isLess === isMore) return 'different';
  return isLess === (kind === 'allowed') ? 'stricter' : 'weaker';
}

/** Compares what two policies require, rule by rule and with all that they extend; and what they accept. */
export function comparePolicies(before: Policy, after: Policy): readonly PolicyChange[] {
  return [
    ...compareRows(listRequired(before), listRequired(after), ['weaker', 'stricter']),
    ...compareRows(listAccepted(before), listAccepted(after), ['stricter', 'weaker']),
  ];
}

/** The changes of rows, of which one that is gone or new makes a policy stricter or weaker. */
function compareRows(
  before: readonly Row[],
  after: readonly Row[],
  [gone, added]: readonly [PolicyChange['change'], PolicyChange['change']],
): readonly PolicyChange[] {
  const nameOf = ({ name }: Row): string => name;
  const [left, right] = [groupBy(before, nameOf), groupBy(after, nameOf)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((name): readonly PolicyChange[] => {
    const [old, now] = [left.get(name) ?? [], right.get(name) ?? []];
    const removed = old.filter(({ words }) => !now.some((row) => row.words === words));
    const fresh = now.filter(({ words }) => !old.some((row) => row.words === words));
    const [first] = removed;
    const [second] = fresh;
    if (first !== undefined && second !== undefined && removed.length === 1 && fresh.length === 1)
      return [{ name, change: compareRow(first, second), before: first.words, after: second.words }];
    return [
      ...removed.map(({ words }) => ({ name, change: gone, before: words })),
      ...fresh.map(({ words }) => ({ name, change: added, after: words })),
    ];
  });
}

const NO_COVERAGE = { totalBytes: 1, coveredBytes: 1, attestedBytes: 1, uncovered: [], mirrorFiles: [] };

/**
 * The inputs of a decision again, as far as it has them: it does not have the errors of a verification, local reports, the
 * coverage and the keys of lists.
 */
export const rebuildInputs = ({ inputs, asOfMs }: Decision): readonly EvidenceInput[] =>
  inputs.map((input): EvidenceInput => {
    const { name, kind, summary, evidence = [] } = input;
    if (summary !== undefined) return { name, summary: { ...summary, findings: [] } };
    const [first] = evidence;
    if (kind === 'unreadable' || (kind === 'bundle' && first === undefined))
      return { name, failure: { code: 'io.UNREADABLE', message: 'it could not be read' } };
    if (kind === 'bundle' && first !== undefined)
      return { name, report: rebuildBundle(first, input, asOfMs), pinned: input.completeness === 'pinned' };
    const { id: evidenceExportId, organizationId, window, manifestDigest, signer, warnings } = input;
    return {
      name,
      report: {
        schemaVersion: 1,
        kind: 'export',
        verdict: input.verdict ?? 'incomplete',
        completeness: input.completeness ?? 'claimed',
        depth: 'full',
        asOfMs,
        ...defined({ evidenceExportId, organizationId, window, manifestDigest, signer }),
        checks: [],
        findings: listFindings(warnings),
        parts: evidence.map((bundle) => rebuildBundle(bundle, input, asOfMs)),
        localReports: [],
        coverage: NO_COVERAGE,
      },
    };
  });

const listFindings = (codes: EvidenceUsed['warnings'] = []) =>
  codes.map((code) => finding(code, 'evidence', { message: 'as the decision has it' }));

const rebuildBundle = (
  { id: evidenceBundleId, warnings, ...bundle }: EvidenceUsed,
  { organizationId }: EvaluatedInput,
  asOfMs: number,
): BundleReport => ({
  schemaVersion: 1,
  kind: 'bundle',
  depth: 'full',
  asOfMs,
  ...bundle,
  ...defined({ evidenceBundleId, organizationId }),
  signed: bundle.signers !== undefined,
  provenance: bundle.verdict === 'verified' ? 'attested' : 'claimed',
  checks: [],
  findings: listFindings(warnings),
  coverage: NO_COVERAGE,
});
