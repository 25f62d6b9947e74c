import { expect, it } from 'vitest';
import { type SummaryReport, verifySummary } from '../../src/policy/index.ts';
import { stableJson } from '../../src/report/index.ts';
import { makeSigner } from '../support/evidence.ts';
import { AS_OF_MS, enveloped, keyOf, summaryOf, trusting } from '../policy/vsa-makers.ts';
import { faultsOf, missedFaults, schemaOf } from './schema-of.ts';

const signer = makeSigner();
const schema = schemaOf('summary-report');
const passed = await enveloped(summaryOf(), [signer]);
const failed = await enveloped(summaryOf({ answer: 'no' }), [signer]);
const trust = trusting(keyOf(signer));
const REPORTS: [string, SummaryReport][] = [
  ['valid', verifySummary(passed, { asOfMs: AS_OF_MS, trust })],
  ['invalid', verifySummary(failed, { asOfMs: AS_OF_MS, trust })],
  ['invalid', verifySummary(Buffer.from('{}'), { asOfMs: AS_OF_MS, trust })],
  ['not_judged', verifySummary(passed, { asOfMs: AS_OF_MS })],
];

it.each(REPORTS)(
  'a summary report with the verdict %s follows the schema, and no damaged copy does',
  (verdict, report) => {
    const document: unknown = JSON.parse(stableJson(report));
    expect(report.verdict).toBe(verdict);
    expect(faultsOf(schema, document)).toEqual([]);
    expect(missedFaults(schema, [document])).toEqual([]);
  },
);
