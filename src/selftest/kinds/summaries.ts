import * as z from 'zod';
import { toUtf8 } from '../../bytes/index.ts';
import { digestSchema } from '../../contract/index.ts';
import { verifySummary } from '../../policy/index.ts';
import { parseTrustStore } from '../../trust/index.ts';
import { judgeBy, type Judge } from './judge.ts';
import { judgement, type Outcome } from '../outcome.ts';

const digest = z.custom<`sha256:${string}`>((value) => digestSchema.safeParse(value).success);
const shape = z.object({
  envelope: z.string(),
  trust: z.string().exactOptional(),
  asOfMs: z.int(),
  threshold: z.int().exactOptional(),
  verifierId: z.string().exactOptional(),
  resourceUri: z.string().exactOptional(),
  policyDigest: digest.exactOptional(),
  inputs: z.array(digest).exactOptional(),
  maxAgeMs: z.int().exactOptional(),
});

function judge({ envelope, trust, asOfMs, threshold, ...expect }: z.infer<typeof shape>): Outcome {
  const report = verifySummary(toUtf8(envelope), {
    asOfMs,
    expect,
    ...(trust !== undefined && { trust: parseTrustStore(toUtf8(trust)) }),
    ...(threshold !== undefined && { threshold }),
  });
  return judgement(report.verdict, [report]);
}

export const judgeSummaries: Readonly<Record<string, Judge>> = {
  summaries: judgeBy(shape, ['bytes', judge]),
};
