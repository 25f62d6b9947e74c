import { describe, expect, it } from 'vitest';
import { memoryAccess } from '../../../src/bytes/random-access.ts';
import { DrillproofError } from '../../../src/errors.ts';
import { memorySource, zipSource, type EvidenceSource } from '../../../src/evidence/index.ts';
import { secondOpinion } from '../../../src/node/second-opinion/index.ts';
import { verifyExport, type ExportReport, type SecondOpinion } from '../../../src/verify/index.ts';
import { openZip, writeZip } from '../../../src/zip/index.ts';
import {
  codesOf,
  collect,
  errorsOf,
  hashOf,
  makeExport,
  makeTrust,
  NOW,
  pack,
  stateOf,
} from '../../support/evidence.ts';

const made = await makeExport();
const zip = await pack(Object.entries(made.files));

async function judged(second: SecondOpinion | undefined, container = true): Promise<ExportReport> {
  const access = memoryAccess(zip);
  const { container: whole, ...rest } = zipSource(await openZip(access));
  const source = container && whole !== undefined ? { ...rest, container: whole } : rest;
  const options = { asOfMs: NOW, trust: makeTrust(made.signer) };
  return verifyExport(source, second === undefined ? options : { ...options, secondOpinion: second });
}

const reading = (change: (name: string) => 'keep' | 'drop' | 'other'): SecondOpinion => ({
  ...secondOpinion,
  async *readZip(access) {
    const whole = access.size === zip.length;
    for await (const entry of secondOpinion.readZip(access)) {
      const what = whole ? change(entry.name) : 'keep';
      if (what === 'drop') continue;
      yield what === 'keep' ? entry : { ...entry, digest: digestOther };
    }
  },
});
const digestOther = hashOf('something else') as `sha256:${string}`;

describe('the second reader of a one-file export', () => {
  it('is asked only when the caller wants it', async () => {
    expect(stateOf(await judged(undefined), 'second.reader')).toBeUndefined();
    const report = await judged(secondOpinion);
    expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['verified', 'passed']);
  });

  it.each(['drop', 'other'] as const)('fails the export when the readers differ: %s', async (what) => {
    const report = await judged(reading((name) => (name === 'export.json' ? what : 'keep')));
    expect([report.verdict, stateOf(report, 'second.reader'), codesOf(report)]).toEqual([
      'failed',
      'failed',
      ['zip.SECOND_OPINION'],
    ]);
  });

  it('fails the export when the second reader sees a file more', async () => {
    const more: SecondOpinion = {
      ...secondOpinion,
      async *readZip(access) {
        yield* secondOpinion.readZip(access);
        if (access.size === zip.length) yield { name: 'more', bytes: 1, digest: digestOther };
      },
    };
    expect((await judged(more)).verdict).toBe('failed');
  });

  it('has nothing to read again in a folder', async () => {
    const options = { asOfMs: NOW, trust: makeTrust(made.signer), secondOpinion };
    const report = await verifyExport(memorySource(made.files), options);
    expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['verified', undefined]);
  });

  it('is not in disagreement over a compressed entry, which is refused as that', async () => {
    const entries = Object.entries(made.files).map(([name, bytes]) => ({
      name,
      open: async function* () {
        yield bytes;
      },
    }));
    const access = memoryAccess(await collect(writeZip(entries)));
    const source = zipSource(await openZip(access));
    const report = await verifyExport(source, { asOfMs: NOW, secondOpinion });
    expect([stateOf(report, 'second.reader'), codesOf(report)]).toEqual([
      'passed',
      expect.not.arrayContaining(['zip.SECOND_OPINION']),
    ]);
    expect(errorsOf(report)).toEqual(['zip.METHOD_UNSUPPORTED']);
  });

  it.each([
    ['zip.CRC_MISMATCH', 'failed', 'failed'],
    ['io.UNREADABLE', 'not_checked', 'incomplete'],
  ] as const)('ends with what it cannot read: %s', async (code, state, verdict) => {
    const stopping: SecondOpinion = {
      ...secondOpinion,
      async *readZip(access) {
        if (access.size === zip.length) throw new DrillproofError(code, 'it stops');
        yield* secondOpinion.readZip(access);
      },
    };
    const report = await judged(stopping);
    expect([report.verdict, stateOf(report, 'second.reader'), errorsOf(report)]).toEqual([
      verdict,
      state,
      [code],
    ]);
  });

  it('leaves the verdict open where the first reader cannot read a file again, and no file open', async () => {
    const access = memoryAccess(zip);
    const source = zipSource(await openZip(access));
    const counts = { opened: 0, closed: 0 };
    const open: EvidenceSource['open'] = async (path) => {
      if (path === 'export.json') throw new DrillproofError('io.UNREADABLE', 'the disk says no');
      const file = await source.open(path);
      counts.opened++;
      return { ...file, close: () => (counts.closed++, file.close()) };
    };
    const report = await verifyExport({ ...source, open }, { asOfMs: NOW, secondOpinion });
    expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['incomplete', 'not_checked']);
    expect(errorsOf(report)).toEqual(['io.UNREADABLE']);
    expect(counts.closed).toBe(counts.opened);
  });

  it('ends with the reason of an aborted signal', async () => {
    const stop = new AbortController();
    const reason = new DrillproofError('transport.ABORTED', 'the caller ended it');
    const access = memoryAccess(zip);
    const source = zipSource(await openZip(access));
    const stopping: SecondOpinion = {
      ...secondOpinion,
      async *readZip(container) {
        if (container.size === zip.length) stop.abort(reason);
        yield* secondOpinion.readZip(container);
      },
    };
    const options = { asOfMs: NOW, secondOpinion: stopping, signal: stop.signal };
    await expect(verifyExport(source, options)).rejects.toBe(reason);
  });

  it('leaves the verdict open where the container cannot be read again', async () => {
    const report = await judged(secondOpinion, false);
    expect([report.verdict, stateOf(report, 'second.reader')]).toEqual(['incomplete', 'not_checked']);
  });
});

it('a second opinion that was asked for and not given is reported for a part without a trust store, and at digest depth', async () => {
  const access = memoryAccess(zip);
  const source = zipSource(await openZip(access));
  const untrusted = await verifyExport(source, { asOfMs: NOW, secondOpinion });
  expect(stateOf(untrusted.parts[0]!, 'second.crypto')).toBe('not_checked');
  expect(stateOf(untrusted.parts[0]!, 'second.reader')).toBe('passed');
  const shallow = await verifyExport(source, { asOfMs: NOW, secondOpinion, depth: 'digest' });
  expect(stateOf(shallow.parts[0]!, 'second.crypto')).toBe('not_checked');
  expect(stateOf(shallow.parts[0]!, 'second.reader')).toBe('not_checked');
});
