import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { once } from '../../../src/bytes/async.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { memorySource, zipSource } from '../../../src/evidence/source.ts';
import { secondOpinion } from '../../../src/node/second-opinion/second-opinion.ts';
import { verifyExport } from '../../../src/verify/export/export.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import type { SecondOpinion } from '../../../src/verify/options.ts';
import { openZip } from '../../../src/zip/read/open.ts';
import { writeZip } from '../../../src/zip/write/write.ts';
import { codesOf, collect, errorsOf, hashOf, NOW, stateOf } from '../../support/evidence.ts';
import { countOpens, failReads } from '../sources.ts';
import { sample, trust, zip } from './setup.ts';

const source = zipSource(await openZip(memoryAccess(zip)));
const digest = hashOf('something else') as `sha256:${string}`;

const verify = (second: SecondOpinion): Promise<ExportReport> =>
  verifyExport(source, { asOfMs: NOW, trust, secondOpinion: second });
const stateAndVerdict = (report: ExportReport) => [report.verdict, stateOf(report, 'second.reader')];

/** A second reader that differs for the container, but not for its parts. */
const readContainer = (readZip: SecondOpinion['readZip']): SecondOpinion => ({
  ...secondOpinion,
  readZip: (access) => (access.size === zip.length ? readZip(access) : secondOpinion.readZip(access)),
});

describe('the second reader of a one-file export', () => {
  it('runs only on request', async () => {
    const report = await verifyExport(source, { asOfMs: NOW, trust });
    expect(stateAndVerdict(report)).toEqual(['verified', undefined]);
    expect(stateAndVerdict(await verify(secondOpinion))).toEqual(['verified', 'passed']);
  });

  it.each([
    ['misses a file', () => []],
    ['reads other bytes', (entry: object) => [{ ...entry, digest }]],
    ['reads a second file', (entry: object) => [entry, { name: 'more', bytes: 1, digest }]],
  ])('fails the export when it %s', async (_, change) => {
    const differing = readContainer(async function* (access) {
      for await (const entry of secondOpinion.readZip(access))
        yield* (entry.name === 'export.json' ? change(entry) : [entry]) as (typeof entry)[];
    });
    const report = await verify(differing);
    expect(stateAndVerdict(report)).toEqual(['failed', 'failed']);
    expect(codesOf(report)).toEqual(['zip.SECOND_OPINION']);
  });

  it('does not apply to a folder', async () => {
    const report = await verifyExport(memorySource(sample.files), { asOfMs: NOW, trust, secondOpinion });
    expect(stateAndVerdict(report)).toEqual(['verified', undefined]);
  });

  it('does not disagree about a compressed entry, which has its own code', async () => {
    const entries = Object.entries(sample.files).map(([name, bytes]) => ({ name, open: () => once(bytes) }));
    const access = memoryAccess(await collect(writeZip(entries)));
    const report = await verifyExport(zipSource(await openZip(access)), { asOfMs: NOW, secondOpinion });
    expect(stateOf(report, 'second.reader')).toBe('passed');
    expect(codesOf(report)).not.toContain('zip.SECOND_OPINION');
    expect(errorsOf(report)).toEqual(['zip.METHOD_UNSUPPORTED']);
  });

  it.each([
    ['zip.CRC_MISMATCH', 'failed', 'failed'],
    ['io.UNREADABLE', 'not_checked', 'incomplete'],
  ] as const)('ends with the error of its reading: %s', async (code, state, verdict) => {
    const report = await verify(
      readContainer(() => {
        throw new DrillproofError(code, 'it stops');
      }),
    );
    expect([...stateAndVerdict(report), errorsOf(report)]).toEqual([verdict, state, [code]]);
  });

  it('leaves the verdict open when the first reader cannot read a file again, and no file open', async () => {
    const counted = countOpens(failReads(source, 'export.json'));
    const report = await verifyExport(counted.source, { asOfMs: NOW, secondOpinion });
    expect(stateAndVerdict(report)).toEqual(['incomplete', 'not_checked']);
    expect(errorsOf(report)).toEqual(['io.UNREADABLE']);
    expect(counted.counts.closed).toBe(counted.counts.opened.length);
  });

  it('ends with the reason of an aborted signal', async () => {
    const stop = new AbortController();
    const reason = new DrillproofError('transport.ABORTED', 'the caller ended it');
    const stopping = readContainer((access) => {
      stop.abort(reason);
      return secondOpinion.readZip(access);
    });
    const options = { asOfMs: NOW, secondOpinion: stopping, signal: stop.signal };
    await expect(verifyExport(source, options)).rejects.toBe(reason);
  });

  it('leaves the verdict open when the container cannot be read again', async () => {
    const { container: _container, ...rest } = source;
    const report = await verifyExport(rest, { asOfMs: NOW, trust, secondOpinion });
    expect(stateAndVerdict(report)).toEqual(['incomplete', 'not_checked']);
  });
});

it.each([
  ['without a trust store', {}, 'passed'],
  ['at depth digest', { depth: 'digest' }, 'not_checked'],
] as const)('a requested second opinion of a part is reported as missing %s', async (_, options, reader) => {
  const { parts } = await verifyExport(source, { asOfMs: NOW, secondOpinion, ...options });
  expect(stateOf(parts[0]!, 'second.crypto')).toBe('not_checked');
  expect(stateOf(parts[0]!, 'second.reader')).toBe(reader);
});
