import * as z from 'zod';
import { defined, type Digest, toUtf8 } from '../../bytes/index.ts';
import { memorySource } from '../../evidence/index.ts';
import { verifyReceipt, verifyReceipts } from '../../verify/index.ts';
import { judgeBy, type Judge } from './judge.ts';
import { judgement, type Outcome } from '../outcome.ts';

const isDigest = (text: string): text is Digest => text.startsWith('sha256:');

const shape = z.object({
  files: z.record(z.string(), z.string()),
  single: z.string().optional(),
  expectHead: z.string().refine(isDigest).optional(),
});

async function judgeChain({ files, single, expectHead }: z.infer<typeof shape>): Promise<Outcome> {
  const source = memorySource(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [path, toUtf8(text)])),
  );
  const report =
    single === undefined
      ? await verifyReceipts(source, defined({ expectHead }))
      : await verifyReceipt(source, single, {});
  return judgement(report.verdict === 'sound' ? 'valid' : 'invalid', [report]);
}

export const judgeReceipts: Readonly<Record<string, Judge>> = {
  receipts: judgeBy(shape, ['files', judgeChain]),
};
