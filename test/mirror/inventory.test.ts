import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import {
  appendLine,
  type InventoryChange,
  InventoryLog,
  type InventoryRow,
  type LogFile,
  parseInventory,
} from '../../src/mirror/inventory.ts';
import { idOf } from '../support/evidence.ts';
import { forAll } from '../support/property.ts';

const NOW = 1_790_000_000_000;
const EMPTY = new Uint8Array();
const row = (n: number, rest: Partial<InventoryRow> = {}): InventoryRow => ({
  evidenceExportId: idOf('evexp', n),
  manifestDigest: digestOf(toUtf8(String(n))),
  state: 'held',
  files: n,
  bytes: n,
  mirroredAtMs: NOW,
  ...rest,
});
const append = (content: Uint8Array, change: InventoryChange, nowMs = NOW) =>
  appendLine(content, change, { tool: 't', nowMs });
const three = [1, 2, 3].reduce(
  (content: Uint8Array, n) => append(content, { exports: [row(n)] }, NOW + n),
  EMPTY,
);

/** A log in memory. Each step can be ended by `fail`, as a kill ends a process. */
function memoryLog(): LogFile & { content: Uint8Array | undefined; fail: boolean } {
  return {
    content: undefined,
    fail: false,
    async read() {
      return this.content;
    },
    async update(change) {
      const next = change(this.content ?? EMPTY);
      if (this.fail) throw new Error('killed');
      this.content = next;
    },
  };
}

describe('an inventory', () => {
  test('has the last row of each export, and its head pins all lines', () => {
    const content = append(three, { exports: [row(2, { state: 'removed', removedAtMs: NOW })] }, NOW + 9);
    const { number, head, exports, heads } = parseInventory(content);
    expect([number, exports.size, exports.get(idOf('evexp', 2))?.state]).toEqual([4, 3, 'removed']);
    const lines = Buffer.from(content).toString().trimEnd().split('\n');
    expect([...heads]).toEqual(lines.map((line) => digestOf(toUtf8(line))));
    expect(head).toBe([...heads].at(-1));
  });

  test('shows what was held at any time', () => {
    expect([0, 1, 2, 3, 99].map((ms) => parseInventory(three, NOW + ms).exports.size)).toEqual([
      0, 1, 2, 3, 3,
    ]);
  });

  test('keeps its order if the clock is set back', () => {
    const { atMs } = parseInventory(append(three, { exports: [row(4)] }, 5));
    expect(atMs).toBe(NOW + 3);
  });

  test('never shows anything that was not written, whatever byte is changed, cut or added before its last line', () => {
    const end = three.lastIndexOf(0x0a, -2) + 1; // only its digest from another place pins the last line
    const edit = fc.record({
      at: fc.nat(end - 5),
      cut: fc.nat(3),
      put: fc.uint8Array({ maxLength: 3 }),
    });
    const rows = new Map([1, 2, 3].map((n) => [idOf('evexp', n), row(n)]));
    forAll(200, [edit], ({ at, cut, put }) => {
      const bytes = Buffer.concat([three.subarray(0, at), put, three.subarray(at + cut)]);
      try {
        for (const [id, found] of parseInventory(bytes).exports) expect(found).toEqual(rows.get(id));
      } catch (error) {
        expect(error).toMatchObject({ code: 'inventory.DAMAGED' });
      }
    });
  });

  test('replaces a line that a dead process left without an end, and refuses to follow a damaged one', () => {
    const torn = Buffer.concat([three, toUtf8('{"atMs":')]);
    expect(parseInventory(torn).number).toBe(3);
    expect(append(torn, { exports: [row(4)] })).toEqual(append(three, { exports: [row(4)] }));
    const damaged = Buffer.concat([three, toUtf8('{}\n')]);
    expect(() => append(damaged, {})).toThrow(expect.objectContaining({ code: 'inventory.DAMAGED' }));
  });
});

const open = (log: LogFile, now = () => NOW) => new InventoryLog(log, 't', now);

describe('InventoryLog', () => {
  test('writes rows together, after five seconds or 256 rows, and the rest when it is flushed', async () => {
    const log = memoryLog();
    let nowMs = NOW;
    const inventory = open(log, () => nowMs);
    for (let n = 1; n <= 300; n++) await inventory.add(row(n));
    expect(parseInventory(log.content!).exports.size).toBe(256);
    nowMs += 5_000;
    await inventory.add(row(301));
    expect(parseInventory(log.content!).exports.size).toBe(301);
    await inventory.add(row(302));
    await inventory.flush();
    expect(parseInventory(log.content!)).toMatchObject({ number: 3, exports: { size: 302 } });
  });

  test('keeps the first time of an export, and writes no row that it has', async () => {
    const log = memoryLog();
    const inventory = open(log);
    await inventory.write({ exports: [row(1, { deletedAtSourceAtMs: 5 })] });
    await inventory.read();
    await inventory.add(row(1, { mirroredAtMs: NOW + 9 }));
    await inventory.flush();
    expect(parseInventory(log.content!).number).toBe(1);
    await inventory.add(row(1, { mirroredAtMs: NOW + 9, receipt: 'receipts/new.json' }));
    await inventory.flush();
    expect(parseInventory(log.content!).exports.get(idOf('evexp', 1))).toEqual(
      row(1, { deletedAtSourceAtMs: 5, receipt: 'receipts/new.json' }),
    );
  });

  test('loses no row of two writers, and has a row only after its mirror', async () => {
    const log = memoryLog();
    const writers = [open(log), open(log)];
    await Promise.all([1, 2, 3, 4].map((n) => writers[n % 2]!.write({ exports: [row(n)] })));
    expect(parseInventory(log.content!)).toMatchObject({ number: 4, exports: { size: 4 } });
    log.fail = true;
    await expect(open(log).write({ exports: [row(5)] })).rejects.toThrow('killed');
    expect(parseInventory(log.content!).exports.size).toBe(4);
  });
});
