/**
 * How many transfers a server bears at the same time, found out from its answers: additive increase, multiplicative
 * decrease (Chiu and Jain 1989; RFC 5681 §3.1). It begins at `most`, is halved when the server says that it is too
 * much, and grows by about one for each round of successes.
 *
 * Many transfers hear of one overload at once. So an attempt takes the `epoch` in which it began, and of those that
 * began in one epoch only the first halves the window.
 */
export class CongestionWindow {
  private readonly most: number;
  private width: number;
  private epochs = 0;

  constructor(most: number) {
    this.most = most;
    this.width = most;
  }

  /** Transfers that may be under way; 1 to `most`. */
  get size(): number {
    return Math.max(1, Math.floor(this.width));
  }

  get epoch(): number {
    return this.epochs;
  }

  succeeded(): void {
    this.width = Math.min(this.most, this.width + 1 / this.width);
  }

  overloaded(epoch: number): void {
    if (epoch !== this.epochs) return;
    this.epochs++;
    this.width = Math.max(1, this.width / 2);
  }
}
