import type { Run } from '../../verify/report.ts';
import { stableJson, streamJson } from '../json.ts';
import type { PathsSummary } from './summary.ts';

/** The JSON report on many paths in pieces, so that no result has to stay in memory. */
export const BEGIN_REPORTS_JSON = '{\n  "schemaVersion": 1,\n  "kind": "reports",\n  "results": [';

/** One item of `results`: its path, whether it passed, and its report or error. */
export function* streamReportsItem(item: object, index: number): Generator<string> {
  yield `${index === 0 ? '' : ','}\n    `;
  for (const text of streamJson(item, '    ')) yield text.endsWith('\n') ? text.slice(0, -1) : text;
}

export const endReportsJson = (summary: PathsSummary, run: Run): string =>
  `${summary.paths === 0 ? '' : '\n  '}],\n  "summary": ${formatIndented(summary)},\n  "run": ${formatIndented(run)}\n}\n`;

const formatIndented = (value: unknown): string => stableJson(value).trimEnd().replaceAll('\n', '\n  ');
