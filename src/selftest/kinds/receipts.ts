import * as z from 'zod';
import type { Digest } from '../../bytes/hash.ts';
import { toUtf8 } from '../../bytes/text/utf8.ts';
import { memorySource } from '../../evidence/index.ts';
import { parseTrustStore } from '../../trust/index.ts';
import { verifyReceipt, verifyReceipts, type SecondOpinion } from '../../verify/index.ts';
import { SECOND_OPINION } from './documents.ts';
import { judgeBy, type Judge } from './judge.ts';
import { judgement, type Outcome } from '../outcome.ts';

const isDigest = (text: string): text is Digest => text.startsWith('sha256:');

const shape = z.object({
  files: z.record(z.string(), z.string()),
  single: z.string().optional(),
  trust: z.string().optional(),
  asOfMs: z.int(),
  expectHead: z.string().refine(isDigest).optional(),
});

async function judgeChain(
  { files, single, trust, asOfMs, expectHead }: z.infer<typeof shape>,
  secondOpinion?: SecondOpinion,
): Promise<Outcome> {
  const source = memorySource(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, toUtf8(text)])),
  );
  const how = {
    asOfMs,
    ...(trust !== undefined && { trust: parseTrustStore(toUtf8(trust)) }),
    ...(secondOpinion && { secondOpinion }),
  };
  const report =
    single === undefined
      ? await verifyReceipts(source, { ...how, ...(expectHead !== undefined && { expectHead }) })
      : await verifyReceipt(source, single, how);
  return {
    ...judgement(report.result === 'sound' ? 'valid' : 'invalid', [report]),
    ...(report.firstSeen !== undefined && { firstSeenAtMs: report.firstSeen.atMs }),
  };
}

export const judgeReceipts: Readonly<Record<string, Judge>> = {
  receipts: judgeBy(
    shape,
    ['files', (input) => judgeChain(input)],
    ['with a second opinion', (input) => judgeChain(input, SECOND_OPINION)],
  ),
};
