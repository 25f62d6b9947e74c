import * as z from 'zod/mini';
import { defined } from '../bytes/arguments.ts';
import { type Digest, digestOf } from '../bytes/hash.ts';
import { canonicalJson } from '../bytes/json/canonical.ts';
import { parseJson } from '../bytes/json/parse.ts';
import { toUtf8 } from '../bytes/text/encoding.ts';
import { concatBytes } from '../bytes/async.ts';
import {
  optionalMember,
  atMsSchema,
  countSchema,
  digestSchema,
  evidenceExportIdSchema,
} from '../contract/scalars.ts';
import { DrillproofError } from '../errors.ts';

/** The inventory of an archive, next to its mirrors (docs/archive/inventory.md). */
export const INVENTORY = 'inventory.jsonl';

/** A file of lines in an archive, to which several processes write. */
export type LogFile = {
  /** Reads the content; `undefined` if it is missing or larger than any valid one. */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Replaces the content by the result of `change`, durably and in one step. No other process writes in between, and
   * `change` may be called again.
   * @throws DrillproofError `io.LOCKED`, `io.READ_ONLY`, `io.DISK_FULL`, `io.WRITE_FAILED`, and what `change` throws
   */
  update(change: (content: Uint8Array) => Uint8Array): Promise<void>;
};

const whoSchema = z.strictObject({
  by: z.string().check(z.minLength(1), z.maxLength(200)),
  reason: z.string().check(z.minLength(1), z.maxLength(2000)),
  atMs: atMsSchema,
});

/** An export in an archive. Its last row is the valid one. */
export const inventoryRowSchema = z.strictObject({
  evidenceExportId: evidenceExportIdSchema,
  manifestDigest: digestSchema,
  state: z.enum(['held', 'removed']).check(z.describe('removed: the archive no longer has it, on purpose')),
  files: countSchema.check(z.describe('parts, local reports and the export attestation')),
  bytes: countSchema,
  mirroredAtMs: atMsSchema.check(z.describe('every byte was verified then, for the first time')),
  receipt: optionalMember(z.string(), 'path of a receipt that the mirror must have'),
  deletedAtSourceAtMs: optionalMember(atMsSchema, 'when a run first saw that the source has deleted it'),
  removedAtMs: optionalMember(atMsSchema),
  removedBecause: optionalMember(z.string()),
  hold: optionalMember(whoSchema, 'while it is there, the mirror is not removed'),
  released: optionalMember(whoSchema, 'who released the last hold'),
});
export type InventoryRow = z.infer<typeof inventoryRowSchema>;

/** Damage that an operator accepts while exactly this is seen. */
export const acknowledgementSchema = z.strictObject({
  mirror: z.string().check(z.minLength(1)),
  path: z.string().check(z.describe('of the file in the mirror; empty for the mirror itself')),
  code: z.string(),
  seen: z.string().check(z.describe('SHA-256 of the file, missing or unreadable')),
  expected: optionalMember(z.string(), 'what it should be'),
  ...whoSchema.shape,
});
export type Acknowledgement = z.infer<typeof acknowledgementSchema>;

/** One line of an inventory: what changed, chained with the line before. */
export const inventoryLineSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('archive.inventory'),
  number: z.int().check(z.gte(1)),
  previous: optionalMember(
    digestSchema,
    'SHA-256 of the line before, without its newline; absent in the first line',
  ),
  atMs: atMsSchema,
  tool: z.string(),
  exports: optionalMember(z.array(inventoryRowSchema)),
  acknowledged: optionalMember(z.array(acknowledgementSchema)),
});
type Line = z.infer<typeof inventoryLineSchema>;
export type InventoryChange = Pick<Line, 'exports' | 'acknowledged'>;

/** The content of an inventory after some line. */
export type Inventory = {
  /** The number of its last line; 0 if it is empty. */
  readonly number: number;
  /** The digest of its last line, which pins all lines. */
  readonly head?: Digest;
  readonly atMs: number;
  readonly exports: ReadonlyMap<string, InventoryRow>;
  /** By `acknowledgedKey`. */
  readonly acknowledged: ReadonlyMap<string, Acknowledgement>;
  /** The digests of all lines. */
  readonly heads: ReadonlySet<string>;
};

const NEWLINE = 0x0a;

/** Splits the content into whole lines. The rest was being written when a process died. */
export function* splitLines(content: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let from = 0, to = content.indexOf(NEWLINE); to >= 0; to = content.indexOf(NEWLINE, from)) {
    yield content.subarray(from, to);
    from = to + 1;
  }
}

export const acknowledgedKey = ({ mirror, path, code }: Pick<Acknowledgement, 'mirror' | 'path' | 'code'>) =>
  JSON.stringify([mirror, path, code]);

/**
 * Reads an inventory, and checks its chain: each line names the line before by its digest.
 * @param untilMs ignores later lines, to answer what the archive contained at that time
 * @throws DrillproofError `inventory.DAMAGED`
 */
export function parseInventory(content: Uint8Array, untilMs = Infinity): Inventory {
  const exports = new Map<string, InventoryRow>();
  const acknowledged = new Map<string, Acknowledgement>();
  const heads = new Set<string>();
  let last: { readonly line: Line; readonly digest: Digest } | undefined;
  let shown = { number: 0, atMs: 0 } as Pick<Inventory, 'number' | 'head' | 'atMs'>;
  for (const bytes of splitLines(content)) {
    const line = parseLine(bytes, (last?.line.number ?? 0) + 1);
    if (line.previous !== last?.digest) throw damaged(line.number, 'it does not name the line before');
    last = { line, digest: digestOf(bytes) };
    if (line.atMs > untilMs) continue;
    heads.add(last.digest);
    shown = { number: line.number, head: last.digest, atMs: line.atMs };
    for (const row of line.exports ?? []) exports.set(row.evidenceExportId, row);
    for (const each of line.acknowledged ?? []) acknowledged.set(acknowledgedKey(each), each);
  }
  return { ...shown, exports, acknowledged, heads };
}

function parseLine(bytes: Uint8Array, number: number): Line {
  try {
    const line = inventoryLineSchema.parse(parseJson(bytes));
    if (line.number === number) return line;
  } catch {
    throw damaged(number, 'it is not a line of an inventory');
  }
  throw damaged(number, 'it has another number');
}

const damaged = (number: number, why: string): DrillproofError =>
  new DrillproofError('inventory.DAMAGED', `line ${number} of ${INVENTORY} is damaged: ${why}`, {
    path: INVENTORY,
  });

type Stamp = { readonly tool: string; readonly nowMs: number };

/** Adds a line with a change. A line that a dead process left incomplete is replaced. */
export function appendLine(content: Uint8Array, change: InventoryChange, { tool, nowMs }: Stamp): Uint8Array {
  const whole = content.subarray(0, content.lastIndexOf(NEWLINE) + 1);
  const bytes =
    whole.length === 0 ? undefined : whole.subarray(whole.lastIndexOf(NEWLINE, -2) + 1, whole.length - 1);
  const before = bytes && inventoryLineSchema.safeParse(parseIfJson(bytes)).data;
  if (bytes !== undefined && before === undefined) throw damaged(NaN, 'its last line cannot be read');
  const line: Line = {
    schemaVersion: 1,
    kind: 'archive.inventory',
    number: (before?.number ?? 0) + 1,
    ...defined({ previous: bytes && digestOf(bytes) }),
    atMs: Math.max(nowMs, before?.atMs ?? nowMs), // a clock that was set back changes no answer about the past
    tool,
    ...defined(change),
  };
  return concatBytes([whole, toUtf8(`${canonicalJson(line)}\n`)]);
}

function parseIfJson(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch {
    return undefined;
  }
}

/** Rows that are written together, and the longest time that a row waits. After a kill, at most these are read again. */
const BATCH = 256;
const WAIT_MS = 5_000;

/** Reads and extends the inventory of an archive. Several processes may do so at once. */
export class InventoryLog {
  private readonly log: LogFile;
  private readonly stamp: () => Stamp;
  private known: Inventory | undefined;
  private waiting: InventoryRow[] = [];
  private sinceMs = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(log: LogFile, tool: string, now: () => number) {
    this.log = log;
    this.stamp = () => ({ tool, nowMs: now() });
  }

  /** Returns the inventory, `undefined` if there is none. @throws DrillproofError `inventory.DAMAGED` */
  async read(untilMs?: number): Promise<Inventory | undefined> {
    const content = await this.log.read();
    this.known = content && parseInventory(content, untilMs);
    return this.known;
  }

  /** Adds an export whose mirror is durable, unless the inventory that was read has it. It keeps its first time. */
  async add(added: InventoryRow): Promise<void> {
    const { nowMs } = this.stamp();
    const old = this.known?.exports.get(added.evidenceExportId);
    const isKept = old?.state === 'held' && old.manifestDigest === added.manifestDigest;
    const row = isKept
      ? { ...old, ...added, mirroredAtMs: old.mirroredAtMs }
      : { ...defined({ hold: old?.hold }), ...added };
    if (isKept && canonicalJson(row) === canonicalJson(old)) return;
    if (this.waiting.length === 0) this.sinceMs = nowMs;
    this.waiting.push(row);
    if (this.waiting.length >= BATCH || nowMs - this.sinceMs >= WAIT_MS) await this.flush();
  }

  /** Writes the rows that wait. */
  async flush(): Promise<void> {
    const exports = this.waiting.splice(0);
    if (exports.length > 0) await this.write({ exports });
    await this.last;
  }

  /**
   * Changes the row of an export as it is now, in one step. An unchanged row is not written.
   * @throws DrillproofError `inventory.UNLISTED`, and what `change` throws
   */
  async edit(id: string, change: (row: InventoryRow, nowMs: number) => InventoryRow): Promise<void> {
    await this.flush();
    await this.log.update((content) => {
      const row = parseInventory(content).exports.get(id);
      if (row === undefined)
        throw new DrillproofError('inventory.UNLISTED', `the inventory does not name ${id}`, { path: id });
      const changed = change(row, this.stamp().nowMs);
      return changed === row ? content : appendLine(content, { exports: [changed] }, this.stamp());
    });
  }

  write(change: InventoryChange): Promise<void> {
    this.last = this.last.then(() => this.log.update((content) => appendLine(content, change, this.stamp())));
    return this.last;
  }
}
