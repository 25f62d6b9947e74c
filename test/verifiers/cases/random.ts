/** Choices that follow from a seed (mulberry32), so that a case can be made again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer of 32 bits: the seed of another generator. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** An integer from 0 to `count` - 1; 0 if there is none. */
  below(count: number): number {
    return count < 1 ? 0 : this.next() % count;
  }

  /** True once in `times` tries. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)]!;
  }

  /** An item of a list that can be empty. */
  choose<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }
}
