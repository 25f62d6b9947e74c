import { type RunResult, runResultSchema } from '../../contract/index.ts';
import { parseDocument, type DocumentKind } from '../document.ts';
import { DEFAULT_LIMITS, type EvidenceLimits } from '../limits.ts';

const KIND: DocumentKind<RunResult> = {
  schema: runResultSchema,
  code: 'bundle.RUN_RESULT_INVALID',
  canonical: true,
};

/**
 * Types the object of role `run-result`: the `result` of the hosted run (formats §1, Bundle manifest).
 * @throws DrillproofError `bundle.RUN_RESULT_INVALID`, `json.NOT_CANONICAL`, and what the JSON parsers throw
 */
export const parseRunResult = (bytes: Uint8Array, limits: EvidenceLimits = DEFAULT_LIMITS): RunResult =>
  parseDocument(bytes, KIND, { maxBytes: limits.runResultBytes, maxValues: limits.jsonValues });
