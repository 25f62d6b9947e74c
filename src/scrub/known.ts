import { digestStream } from '../bytes/hash.ts';
import { streamAccess } from '../bytes/random-access.ts';
import { acknowledgedKey } from '../mirror/inventory.ts';
import type { ScrubPlace, ScrubView } from './options.ts';
import { ifReadable } from './result.ts';
import type { ScrubFault } from '../report/many/scrubs.ts';

/**
 * Describes what is seen in place of a file: the digest of its bytes, `missing` or `unreadable`. A fault that was
 * acknowledged is known only while this stays the same.
 */
export async function describeSeen({ source, files }: ScrubView, path: string): Promise<string> {
  const file = files.get(path);
  if (file === undefined) return 'missing';
  const seen = await ifReadable(async () => {
    const access = await source.open(path);
    try {
      return (await digestStream(streamAccess(access))).digest;
    } finally {
      await access.close();
    }
  });
  return file.regular && seen !== undefined ? seen : 'unreadable';
}

/** Marks the faults that an operator has acknowledged, and that are still the same. */
export async function markKnown(
  { name, listed }: ScrubPlace,
  view: ScrubView,
  faults: readonly ScrubFault[],
): Promise<readonly ScrubFault[]> {
  const accepted = new Map(listed?.acknowledged.map((each) => [acknowledgedKey(each), each]));
  return Promise.all(
    faults.map(async (fault) => {
      const known = accepted.get(acknowledgedKey({ mirror: name, path: fault.path, code: fault.code }));
      if (known === undefined || (await describeSeen(view, fault.path)) !== known.seen) return fault;
      const { by, reason, atMs } = known;
      return { ...fault, acknowledged: { by, reason, atMs } };
    }),
  );
}
