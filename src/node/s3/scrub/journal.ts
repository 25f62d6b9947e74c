import { DrillproofError } from '../../../errors.ts';
import type { ScrubJournal } from '../../../scrub/index.ts';
import { MAX_JOURNAL_BYTES } from '../../scrub/journal.ts';
import type { Bucket, ObjectFacts } from '../bucket.ts';
import { readRange } from '../object-stream.ts';

const TRIES = 5;

/**
 * The journal of a mirror as an object. What is added makes a new object of all of it, under the condition that the old
 * one is still the one that was read; whoever comes second reads again and adds to that.
 */
export function objectJournal(bucket: Bucket, key: string): ScrubJournal {
  const readAll = async (): Promise<{ facts: ObjectFacts | undefined; bytes: Uint8Array }> => {
    const facts = await bucket.facts(key);
    if (facts === undefined || facts.bytes > MAX_JOURNAL_BYTES) return { facts, bytes: new Uint8Array() };
    return { facts, bytes: await readRange(bucket, { key, ...facts }, { start: 0, end: facts.bytes }) };
  };
  const put = async (content: Uint8Array, before: ObjectFacts | undefined): Promise<boolean> => {
    const etags = before === undefined ? [] : [before.etag, before.etag.replaceAll('"', '')];
    const conditions =
      before === undefined ? [{ ifAbsent: true } as const] : etags.map((ifMatch) => ({ ifMatch }));
    // Servers differ in whether the entity tag of a condition stands in quotation marks.
    for (const when of conditions)
      if ((await bucket.put(key, content, { when })).outcome === 'written') return true;
    return false;
  };
  return {
    read: async () => (await readAll()).bytes,
    async append(lines) {
      for (let tries = 0; tries < TRIES; tries++) {
        const { facts, bytes } = await readAll();
        if (await put(Buffer.concat([bytes, lines]), facts)) return;
      }
      const path = bucket.nameOf(key);
      throw new DrillproofError('io.WRITE_FAILED', `cannot write ${path}: others write to it all the time`, {
        path,
      });
    },
    async replace(content) {
      const { facts } = await readAll();
      await put(content, facts); // who wrote meanwhile has the newer one, which is as good
    },
  };
}
