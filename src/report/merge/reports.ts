import type * as z from 'zod';
import type { JsonValue } from '../../bytes/index.ts';
import { diffReports } from '../diff.ts';
import { assertInShard, unite, type Named } from './units.ts';
import type { reportsSchema } from './reports-schema.ts';

export type ReportsReport = z.infer<typeof reportsSchema>;
export type PathResult = ReportsReport['results'][number];

/**
 * The results of several runs of `verify`, each path once, by their names.
 * @throws DrillproofError `report.MERGE_CONFLICT` when two judge one path differently
 */
export function mergeResults(reports: readonly Named<ReportsReport>[]): readonly PathResult[] {
  const units = reports.flatMap(({ name, report }) =>
    report.results.map((value) => {
      assertInShard(name, value.path, report.shard);
      return { key: value.path, value, from: name };
    }),
  );
  return unite(units, judgeAlike).map(({ value }) => value);
}

const judgeAlike = (a: PathResult, b: PathResult): boolean =>
  a.passed === b.passed && diffReports(asJson(a.result), asJson(b.result)).equal;

// What was read from JSON is JSON, whatever the schema calls it.
const asJson = (result: PathResult['result']): JsonValue => JSON.parse(JSON.stringify(result)) as JsonValue;
