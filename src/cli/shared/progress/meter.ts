import { Rate } from './rate.ts';

/** How far a part is that is under way. */
export type Part = {
  readonly bytes: number;
  readonly totalBytes?: number;
  /** Of `bytes` those that had to be brought or read, by which the rate goes; it grows only. Default all. */
  readonly moved?: number;
  /** Bytes of what failed, which nobody waits for any more. */
  readonly lost?: number;
};

/** How far the whole is; without bytes where things are only counted. */
export type Whole = Partial<Part> & { readonly done: number; readonly of: number };

/** What can be said of a whole or a part at one moment. */
export type Figures = {
  /** 0 to 1. */
  readonly share: number;
  readonly bytes?: number;
  /** Never less than `bytes`. */
  readonly totalBytes?: number;
  readonly bytesPerSecond?: number;
  readonly leftMs?: number;
};
export type Picture = {
  readonly verb: string;
  readonly things: string;
  readonly whole: Figures & { readonly done: number; readonly of: number };
  /** Under way, the one that began first at the head. */
  readonly parts: readonly (Figures & { readonly name: string })[];
};

/** Slower than this, and when it will be done nobody can say. */
const STANDSTILL_BYTES_PER_SECOND = 1;
const MAX_LEFT_MS = 1e13;

/** Takes what happens, and gives a picture of any moment. It reads no clock and writes nothing. */
export class Meter {
  private readonly verb: string;
  private readonly things: string;
  private readonly startedAtMs: number;
  private readonly flow: Flow;
  private readonly parts = new Map<string, Flow>();
  private state: Whole = { done: 0, of: 0 };

  constructor(verb: string, things: string, nowMs: number) {
    this.verb = verb;
    this.things = things;
    this.startedAtMs = nowMs;
    this.flow = new Flow(nowMs);
  }

  whole(state: Whole, nowMs: number): void {
    this.flow.set({ ...state, bytes: state.bytes ?? 0 }, nowMs);
    this.state = state;
  }

  /** `undefined` when it is under way no longer. */
  part(name: string, part: Part | undefined, nowMs: number): void {
    if (part === undefined) {
      this.parts.delete(name);
      return;
    }
    const flow = this.parts.get(name) ?? new Flow(nowMs);
    this.parts.set(name, flow);
    flow.set(part, nowMs);
  }

  picture(nowMs: number): Picture {
    const parts = [...this.parts].map(([name, flow]) => ({ name, ...flow.figures(nowMs) }));
    return { verb: this.verb, things: this.things, whole: this.figures(parts, nowMs), parts };
  }

  private figures(parts: readonly Figures[], nowMs: number): Picture['whole'] {
    const { done, of, bytes, totalBytes } = this.state;
    if (bytes !== undefined && totalBytes !== undefined) return { done, of, ...this.flow.figures(nowMs) };
    const begun = parts.reduce((sum, part) => sum + part.share, 0);
    const share = ratio(done + begun, of);
    const passedMs = Math.max(0, nowMs - this.startedAtMs);
    return {
      done,
      of,
      ...(bytes !== undefined && this.flow.figures(nowMs)),
      share,
      ...(share > 0 && { leftMs: Math.min((passedMs * (1 - share)) / share, MAX_LEFT_MS) }),
    };
  }
}

/** Bytes on their way. */
class Flow {
  private readonly rate: Rate;
  private part: Part = { bytes: 0 };
  private moved = 0;

  constructor(nowMs: number) {
    this.rate = new Rate(nowMs);
  }

  set(part: Part, nowMs: number): void {
    const { moved = part.bytes } = part;
    this.rate.add(moved - this.moved, nowMs);
    this.moved = Math.max(this.moved, moved);
    this.part = part;
  }

  figures(nowMs: number): Figures {
    const bytesPerSecond = this.rate.perSecond(nowMs);
    const speed = bytesPerSecond === undefined ? {} : { bytesPerSecond };
    const { totalBytes, lost = 0 } = this.part;
    const bytes = Math.max(0, Math.min(this.part.bytes, totalBytes ?? Infinity));
    if (totalBytes === undefined) return { share: 0, bytes, ...speed };
    const leftMs = timeFor(totalBytes - bytes - lost, bytesPerSecond);
    return {
      share: ratio(bytes, totalBytes),
      bytes,
      totalBytes,
      ...speed,
      ...(leftMs !== undefined && { leftMs }),
    };
  }
}

function timeFor(bytes: number, bytesPerSecond = 0): number | undefined {
  if (bytes <= 0) return 0;
  if (bytesPerSecond < STANDSTILL_BYTES_PER_SECOND) return undefined;
  return Math.min((bytes / bytesPerSecond) * 1000, MAX_LEFT_MS);
}

const ratio = (part: number, whole: number): number =>
  whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
