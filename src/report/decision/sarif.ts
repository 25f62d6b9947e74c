import { canonicalBytes } from '../../bytes/json/canonical.ts';
import { defined } from '../../bytes/arguments.ts';
import { digestOf } from '../../bytes/hash.ts';
import { count, isoTime } from '../../bytes/text/wording.ts';
import { type Code, codeEntry } from '../../codes/catalogue.ts';
import type { Decision } from '../../policy/decision.ts';
import { type RuleId, RULES } from '../../policy/catalogue.ts';
import {
  DECISION_RULE,
  fileOf,
  formatAnswer,
  formatFacts,
  formatReason,
  formatWaivers,
  isReportOnly,
  placeOf,
  type Reason,
  reasonsOf,
  uriOf,
} from './reasons.ts';
import { stableJson } from '../json.ts';
import { escapeText } from '../printable.ts';

/** Failed and undecided rules are both errors, so that neither can be overlooked. */
const LEVELS = { failed: 'error', not_checked: 'error', warned: 'warning', waived: 'note' } as const;
const levelOf = (decision: Decision, state: Reason['state']): string =>
  isReportOnly(decision) && LEVELS[state] === 'error' ? 'warning' : LEVELS[state];
const INFORMATION = 'https://www.npmjs.com/package/drillproof';
/** GitHub code scanning shows 5,000 results of a run, and refuses a file with more than 25,000. */
const MAX_RESULTS = 5_000;
const SRCROOT = '%SRCROOT%';

/**
 * A decision as SARIF 2.1.0: every rule as a `reportingDescriptor` with the help of the catalogue, every reason as a
 * result. Where the gate could not tell, `executionSuccessful` is false (§3.20.14). Waivers are suppressions (§3.27.23).
 */
export function renderDecisionSarif(decision: Decision, category?: string): string {
  const reasons = reasonsOf(decision);
  const shown = reasons.slice(0, MAX_RESULTS);
  const omitted = reasons.length - shown.length;
  return stableJson({
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'drillproof',
            informationUri: INFORMATION,
            ...defined({ version: decision.run?.tool.version }),
            rules: buildDescriptors(decision, shown, omitted > 0),
          },
        },
        ...(category !== undefined && { automationDetails: { id: `${category}/` } }),
        columnKind: 'utf16CodeUnits',
        invocations: [buildInvocation(decision, shown)],
        results: [
          ...shown.map((reason) => resultOf(decision, reason)),
          ...(omitted > 0 ? [buildRest(decision, reasons.slice(MAX_RESULTS))] : []),
        ],
        properties: factsOfRun(decision),
      },
    ],
  });
}

const factsOfRun = ({ answer, policy, trust, asOfMs, run }: Decision) => ({
  answer,
  policyDigest: policy.digest,
  asOf: isoTime(asOfMs),
  ...defined({ trustStore: trust?.fingerprint, options: run?.options }),
});

/** Rules in the order of the decision, so that `ruleIndex` is the place of a rule in it; the answer comes last. */
function buildDescriptors(
  { rules }: Decision,
  reasons: readonly Reason[],
  hasRest: boolean,
): readonly object[] {
  const ofRules = rules.map(({ rule }) => buildDescriptor(rule));
  return hasRest || reasons.some(({ rule }) => rule === DECISION_RULE) ? [...ofRules, ANSWER] : ofRules;
}

function buildRest(decision: Decision, rest: readonly Reason[]): object {
  const worst = rest[0]?.state ?? 'failed'; // reasons are sorted
  const text = `${count(rest.length)} more results are omitted; the JSON lists them all`;
  return {
    ruleId: DECISION_RULE,
    ruleIndex: decision.rules.length,
    level: levelOf(decision, worst),
    message: { text },
    locations: [{ physicalLocation: { artifactLocation: { uri: 'policy', uriBaseId: SRCROOT } } }],
    partialFingerprints: {
      'drillproofReason/v1': digestOf(canonicalBytes([DECISION_RULE, 'rest'])).slice(7),
    },
    properties: { state: worst, omitted: rest.length },
  };
}

const ANSWER = {
  id: DECISION_RULE,
  shortDescription: { text: 'the policy is met' },
  defaultConfiguration: { level: 'error' },
};

function buildDescriptor(rule: RuleId): object {
  const { title, code } = RULES[rule];
  return {
    id: rule,
    shortDescription: { text: title },
    ...helpOf(code),
    defaultConfiguration: { level: 'error' },
    properties: { code, tags: ['policy', codeEntry(code).class] },
  };
}

function buildInvocation(decision: Decision, reasons: readonly Reason[]): object {
  const unsure = reasons.filter(({ state }) => state === 'not_checked');
  return {
    executionSuccessful: decision.answer !== 'could_not_tell',
    exitCode: { yes: 0, no: 1, could_not_tell: 3 }[decision.answer],
    toolExecutionNotifications: [
      {
        level: decision.answer === 'yes' ? 'note' : 'error',
        message: { text: escapeLiteral(formatAnswer(decision)) },
      },
      ...unsure.map((reason) => ({
        level: 'error',
        message: { text: escapeLiteral(formatReason(reason)) },
      })),
      ...formatWaivers(decision).map((line) => ({
        level: 'note',
        message: { text: escapeLiteral(`waiver: ${escapeText(line)}`) },
      })),
    ],
  };
}

function resultOf(decision: Decision, reason: Reason): object {
  const { rule, state, fingerprint, waiver, code, findings, subject, input, expected, actual } = reason;
  const ruleIndex = decision.rules.findIndex((result) => result.rule === rule);
  return {
    ruleId: rule,
    ruleIndex: ruleIndex === -1 ? decision.rules.length : ruleIndex,
    level: levelOf(decision, state),
    message: { text: escapeLiteral([formatReason(reason), ...formatFacts(reason)].join('\n')) },
    locations: [locationOf(decision, reason)],
    partialFingerprints: { 'drillproofReason/v1': fingerprint },
    ...(state === 'waived' && {
      suppressions: [{ kind: 'external', status: 'accepted', justification: waiver ?? 'waived' }],
    }),
    properties: {
      state,
      subject,
      ...defined({ code, input, expected, actual }),
      ...(findings.length > 0 && { findings: [...new Set(findings)] }),
    },
  };
}

function helpOf(code: Code): object {
  const { meaning, action } = codeEntry(code);
  return {
    fullDescription: { text: meaning },
    help: { text: `${meaning} ${action}`, markdown: `\`${code}\`\n\n${meaning}\n\n**To do:** ${action}` },
  };
}

function locationOf(decision: Decision, reason: Reason): object {
  const place = fileOf(decision, reason);
  const uri = place === undefined ? 'policy' : uriOf(place);
  const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri);
  const artifactLocation = absolute ? { uri } : { uri, uriBaseId: SRCROOT };
  return {
    physicalLocation: { artifactLocation, region: { startLine: 1 } },
    logicalLocations: [{ name: reason.subject, fullyQualifiedName: placeOf(reason) }],
  };
}

/** Braces begin placeholders (§3.11.5) and `[…](…)` a link (§3.11.6); text from outside is neither. */
const escapeLiteral = (text: string): string =>
  text
    .replaceAll('{', '{{')
    .replaceAll('}', '}}')
    .replaceAll('](', String.raw`]\(`);
