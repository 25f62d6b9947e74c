/** What came longer ago counts less and less: after this time, a factor of e. */
const WINDOW_MS = 10_000;
/** Before so much time has passed a rate says nothing. */
const SETTLED_MS = 1_000;

/**
 * The rate of a flow over the last seconds, as an exponentially weighted mean over time. What comes is taken to have
 * come evenly since what came before, and the mean is divided by the weight of the time that it covers: so a steady flow
 * has its exact rate from the beginning, in steps of any size.
 */
export class Rate {
  private readonly startedAtMs: number;
  private atMs: number;
  private weighted = 0;

  constructor(nowMs: number) {
    this.startedAtMs = nowMs;
    this.atMs = nowMs;
  }

  /** A clock that was put back passes no time. */
  add(amount: number, nowMs: number): void {
    const windows = Math.max(0, nowMs - this.atMs) / WINDOW_MS;
    const weight = windows === 0 ? 1 : -Math.expm1(-windows) / windows;
    this.weighted = this.weighted * Math.exp(-windows) + Math.max(0, amount) * weight;
    this.atMs = Math.max(this.atMs, nowMs);
  }

  /** Per second; `undefined` while there is too little to judge by. */
  perSecond(nowMs: number): number | undefined {
    const atMs = Math.max(this.atMs, nowMs);
    const ageMs = atMs - this.startedAtMs;
    if (ageMs < SETTLED_MS) return undefined;
    const covered = (WINDOW_MS / 1000) * -Math.expm1(-ageMs / WINDOW_MS);
    return (this.weighted * Math.exp((this.atMs - atMs) / WINDOW_MS)) / covered;
  }
}
