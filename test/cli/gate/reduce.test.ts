import { expect, it } from 'vitest';
import { reduceReport } from '../../../src/cli/gate/run.ts';
import { bundle, found } from '../../policy/make.ts';

it('a gate keeps one finding of each code about a bundle, which says how many there are', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => ({
    ...found('zip.ORDER_UNUSUAL', 'evidence', 'warning'),
    path: `objects/${at}`,
  }));
  const report = bundle(1, { findings: [...many, found('bundle.UNSIGNED', 'evidence')] });
  const { findings, checks, ...rest } = reduceReport(report);
  expect(findings.map(({ code, path, message }) => [code, path, message.slice(-19)])).toEqual([
    ['zip.ORDER_UNUSUAL', 'objects/0', '(the first of 5,000)'.slice(-19)],
    ['bundle.UNSIGNED', undefined, expect.not.stringContaining('the first of') as string],
  ]);
  const { findings: _findings, checks: _checks, ...before } = report;
  expect([checks, rest]).toEqual([[], before]);
});
