import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Meter, type Figures, type Part } from '../../../../src/cli/shared/progress/meter.ts';
import { Rate } from '../../../../src/cli/shared/progress/rate.ts';
import { plainLine, screenLines } from '../../../../src/cli/shared/progress/screen.ts';
import { columnsOf } from '../../../../src/report/text-width.ts';

const meterOf = (): Meter => new Meter('mirrored', 'files', 0);

describe('a rate', () => {
  it('of a steady flow is exact from the first second, in steps of any size', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 1e9 }), (sizes, perSecond) => {
        const rate = new Rate(0);
        let nowMs = 0;
        for (const ms of sizes) rate.add((perSecond * ms) / 1000, (nowMs += ms));
        if (nowMs < 1000) expect(rate.perSecond(nowMs)).toBeUndefined();
        else expect(rate.perSecond(nowMs)! / perSecond).toBeCloseTo(1, 6);
      }),
    );
  });

  it('follows a change within seconds and forgets what is long past', () => {
    const rate = new Rate(0);
    for (let ms = 1000; ms <= 60_000; ms += 1000) rate.add(1000, ms);
    for (let ms = 61_000; ms <= 90_000; ms += 1000) rate.add(100, ms);
    expect(rate.perSecond(90_000)).toBeLessThan(150);
    expect(rate.perSecond(300_000)).toBeLessThan(0.001);
  });

  it('lets a clock that is put back pass no time', () => {
    const rate = new Rate(10_000);
    rate.add(1000, 12_000);
    rate.add(1000, 3_000);
    expect(rate.perSecond(0)).toBe(rate.perSecond(12_000));
    expect(rate.perSecond(12_000)).toBeGreaterThan(900);
  });
});

describe('the time left', () => {
  it('goes by what was moved, not by what was there before', () => {
    const meter = meterOf();
    meter.whole({ done: 5, of: 10, bytes: 5000, totalBytes: 10_000, moved: 0 }, 0);
    meter.whole({ done: 6, of: 10, bytes: 6000, totalBytes: 10_000, moved: 1000 }, 2000);
    const { bytesPerSecond, leftMs } = meter.picture(2000).whole;
    expect(bytesPerSecond).toBeCloseTo(500, 6);
    expect(leftMs).toBeCloseTo(8000, 6);
  });

  it('does not wait for what failed', () => {
    const meter = meterOf();
    meter.whole({ done: 0, of: 2, bytes: 0, totalBytes: 2000 }, 0);
    meter.whole({ done: 1, of: 2, bytes: 1000, totalBytes: 2000, lost: 1000 }, 1000);
    expect(meter.picture(1000).whole.leftMs).toBe(0);
  });

  it('is unknown while nothing moves', () => {
    const meter = meterOf();
    meter.whole({ done: 0, of: 2, bytes: 0, totalBytes: 2000 }, 0);
    expect(meter.picture(5000).whole).not.toHaveProperty('leftMs');
  });

  it('where the bytes of the whole are not known goes by what is done of the things, parts included', () => {
    const meter = meterOf();
    meter.whole({ done: 1, of: 4, bytes: 0 }, 0);
    meter.part('a', { bytes: 500, totalBytes: 1000 }, 3000);
    const { share, leftMs } = meter.picture(3000).whole;
    expect(share).toBe(0.375);
    expect(leftMs).toBeCloseTo(5000, 6);
  });
});

const part: fc.Arbitrary<Part> = fc.record(
  {
    bytes: fc.integer({ min: -10, max: 2 ** 50 }),
    totalBytes: fc.integer({ min: 0, max: 2 ** 50 }),
    moved: fc.integer({ min: 0, max: 2 ** 50 }),
    lost: fc.integer({ min: 0, max: 2 ** 50 }),
  },
  { requiredKeys: ['bytes'] },
);
const counts = fc.record({ done: fc.nat(), of: fc.nat() });
const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('漢', 'e\u0301', '🚀', '\u200D', '\u001B[2J', 'ｗ', 'a', '\t'),
    maxLength: 60,
  }),
);
const step = fc.record({
  ms: fc.integer({ min: -5000, max: 100_000 }),
  whole: fc.option(fc.tuple(counts, fc.option(part))),
  part: fc.option(fc.tuple(name, fc.option(part))),
});

function sound({ bytes, totalBytes, bytesPerSecond, leftMs, share }: Figures): boolean {
  const numbers = [share, bytes, totalBytes, bytesPerSecond, leftMs].filter((one) => one !== undefined);
  return (
    numbers.every((one) => Number.isFinite(one) && one >= 0) &&
    share <= 1 &&
    (bytes === undefined || totalBytes === undefined || bytes <= totalBytes)
  );
}

describe('whatever happens', () => {
  it('no figure is negative or no number, none is over its total, and no line is wider than the terminal', () => {
    const room = fc.record({
      columns: fc.integer({ min: 1, max: 200 }),
      rows: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), room, (steps, size) => {
        const meter = meterOf();
        let nowMs = 0;
        for (const { ms, whole, part: one } of steps) {
          nowMs += ms;
          if (whole !== null) meter.whole({ ...whole[0], ...whole[1] }, nowMs);
          if (one !== null) meter.part(one[0], one[1] ?? undefined, nowMs);
          const picture = meter.picture(nowMs);
          expect([picture.whole, ...picture.parts].every(sound)).toBe(true);
          const lines = screenLines(picture, size);
          expect(lines.length).toBeLessThanOrEqual(Math.max(1, size.rows));
          for (const line of lines) {
            expect(columnsOf(line)).toBeLessThanOrEqual(size.columns);
            expect(line).not.toMatch(/[\p{Cc}\p{Cf}]|NaN|Infinity/u);
          }
          expect(plainLine(picture)).not.toMatch(/NaN|Infinity|-\d/);
        }
      }),
      { numRuns: 300 },
    );
  });
});

const many = (parts: number, columns: number, rows = 24) => {
  const meter = meterOf();
  meter.whole({ done: 3, of: 100, bytes: 0, totalBytes: 5e9 }, 0);
  for (let n = 0; n < parts; n++)
    meter.part(`parts/evidence_00000000000${n}.zip`, { bytes: 0, totalBytes: 5e7 }, 0);
  meter.whole({ done: 3, of: 100, bytes: 1e9, totalBytes: 5e9 }, 10_000);
  meter.part('parts/evidence_000000000000.zip', { bytes: 2e7, totalBytes: 5e7 }, 10_000);
  return screenLines(meter.picture(10_000), { columns, rows });
};

describe('a screen', () => {
  it('names the parts that began first, and counts the others', () => {
    const lines = many(20, 100);
    expect(lines).toHaveLength(9);
    expect(lines[0]).toBe(
      '  parts/evidence_000000000000.zip     40.0 %    19.1 MiB of 47.7 MiB     1.9 MiB/s         15 s left',
    );
    expect(lines[7]).toBe('  and 13 more under way');
    expect(lines[8]).toBe('mirrored 3 of 100 files  20.0 %  953.7 MiB of 4.7 GiB  95.4 MiB/s  40 s left');
  });

  it('of few rows keeps the line of the whole', () => {
    expect(many(20, 100, 1)).toHaveLength(1);
    expect(many(20, 100, 6)).toHaveLength(4);
    expect(many(2, 100, 6)).toHaveLength(3);
  });

  it('of few columns leaves out first what says least', () => {
    expect(many(1, 150).at(-1)).toBe(
      'mirrored 3 of 100 files  [####--------------------]  20.0 %  953.7 MiB of 4.7 GiB  95.4 MiB/s  40 s left',
    );
    expect(many(1, 60)).toEqual([
      '  …_000000000000.zip  40.0 %     1.9 MiB/s         15 s left',
      'mirrored 3 of 100 files  20.0 %  95.4 MiB/s  40 s left',
    ]);
    expect(many(1, 40)).toEqual([
      '  …rts/evidence_000000000000.zip  40.0 %',
      'mirrored 3 of 100 files  40 s left',
    ]);
    expect(many(1, 20)).toEqual(['  …00000000000.zip', 'mirrored 3 of 100 f…']);
  });
});
