import { InvalidArgumentError } from 'commander';
import type { Shard } from '../../../report/index.ts';

const MAX_SHARDS = 10_000;

/** `i/n`, with i from 0 to n-1, as the indexes of Kubernetes count. */
export function shard(value: string): Shard {
  const [, i = '', n = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(value) ?? [];
  const [index, count] = [Number(i), Number(n)];
  if (i === '' || count < 1 || count > MAX_SHARDS)
    throw new InvalidArgumentError(`It must be i/n, such as 0/8, with n from 1 to ${MAX_SHARDS}.`);
  if (index === count)
    throw new InvalidArgumentError(`Shards count from 0: the last of ${count} is ${count - 1}/${count}.`);
  if (index > count)
    throw new InvalidArgumentError(`There is no such shard: they are 0/${count} to ${count - 1}/${count}.`);
  return { index, count };
}
