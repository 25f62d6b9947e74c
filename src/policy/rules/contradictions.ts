import { type Contradiction, CONTRADICTIONS, type Outcome } from '../../verify/index.ts';
import { buildFailure, buildUnknown, evaluateAttested, type Evaluator } from './outcome.ts';

type RunFacts = Required<Outcome>;

// Reports of earlier releases, and on runs with very many assertions, do not have all facts.
const hasFacts = (outcome: Outcome | undefined): outcome is RunFacts =>
  outcome?.budget !== undefined && outcome.assertions !== undefined && outcome.checkpoints !== undefined;

/** No run contradicts itself in this way. */
export const refuseContradiction = (what: Contradiction): Evaluator =>
  evaluateAttested('the result of the run', (bundle) => {
    const { outcome } = bundle.report;
    if (!hasFacts(outcome)) return buildUnknown(bundle, 'the report does not have all facts of the run');
    const row = CONTRADICTIONS[what];
    const values = row.find(outcome);
    if (values === undefined) return undefined;
    const { message, ...rest } = values;
    return buildFailure(bundle, message, { ...rest, findings: [row.code] });
  });
