/** What may come at once after a pause, as a share of one second's bytes. */
const BURST_SECONDS = 0.25;

/**
 * Bounds a flow of bytes over time. Bytes that are here already are taken from the bucket even when it holds fewer,
 * and who takes them waits until the debt is paid; so over any time the flow is at most the rate, one burst of a
 * quarter of a second, and the chunk that came last.
 */
export class TokenBucket {
  private readonly bytesPerMs: number;
  private readonly burst: number;
  private readonly now: () => number;
  private tokens: number;
  private atMs: number;

  /** `now` in milliseconds. */
  constructor(bytesPerSecond: number, now: () => number) {
    this.bytesPerMs = bytesPerSecond / 1000;
    this.burst = bytesPerSecond * BURST_SECONDS;
    this.now = now;
    this.tokens = this.burst;
    this.atMs = now();
  }

  /** Takes bytes that have come, and gives the milliseconds to wait before more are read. */
  take(bytes: number): number {
    const nowMs = this.now();
    // A clock that was put back gives nothing and takes nothing.
    const passedMs = Math.max(0, nowMs - this.atMs);
    this.atMs = nowMs;
    this.tokens = Math.min(this.burst, this.tokens + passedMs * this.bytesPerMs) - bytes;
    return this.tokens >= 0 ? 0 : Math.ceil(-this.tokens / this.bytesPerMs);
  }
}
