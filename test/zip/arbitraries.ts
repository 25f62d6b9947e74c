import * as fc from 'fast-check';
import { findPathProblem } from '../../src/bytes/portable-path.ts';
import { bytesOf } from './raw-zip.ts';

const names = fc.uniqueArray(
  fc
    .stringMatching(/^[a-z0-9][a-z0-9/_é-]{0,20}[a-z0-9]$/)
    .filter((name) => findPathProblem(name) === undefined),
  { maxLength: 8 },
);

const contents = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.tuple(fc.string({ maxLength: 9 }), fc.nat(3_000)).map(([part, times]) => bytesOf(part.repeat(times))),
);

/** Some files: names that are portable and distinct, contents that deflate well and badly. */
export const trees = names
  .chain((all) => fc.tuple(...all.map((name) => contents.map((bytes) => [name, bytes] as const))))
  .map((files) => Object.fromEntries(files));
