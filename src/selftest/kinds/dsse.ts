import * as z from 'zod';
import { memoryAccess, toUtf8 } from '../../bytes/index.ts';
import { digestSchema } from '../../contract/index.ts';
import { verifySummary } from '../../policy/index.ts';
import { parseTrustStore } from '../../trust/index.ts';
import { type SecondOpinion, verifyDsse, verifyPart } from '../../verify/index.ts';
import { bytesOfBase64, type Judge, judgeBy, judgement, type Outcome } from '../outcome.ts';
import { SECOND_OPINION } from './documents.ts';

const dsseShape = z.object({
  envelope: z.string(),
  trust: z.string().exactOptional(),
  asOfMs: z.int(),
  purpose: z.enum(['evidence', 'export']).exactOptional(),
  threshold: z.int().exactOptional(),
  manifest: z.string().exactOptional(),
  part: z.string().exactOptional(),
});

async function judgeEnvelope(
  { envelope, trust, part, manifest, asOfMs, ...known }: z.infer<typeof dsseShape>,
  secondOpinion?: SecondOpinion,
): Promise<Outcome> {
  const dsse = toUtf8(envelope);
  const how = {
    asOfMs,
    ...(trust !== undefined && { trust: parseTrustStore(toUtf8(trust)) }),
    ...(secondOpinion && { secondOpinion }),
  };
  if (part !== undefined) {
    const report = await verifyPart(memoryAccess(bytesOfBase64(part)), { ...how, dsse });
    return judgement(report.verdict, [report]);
  }
  const about = manifest === undefined ? {} : { manifest: toUtf8(manifest) };
  const report = verifyDsse(dsse, { ...how, ...known, ...about });
  return judgement(report.verdict, [report]);
}

export const judgeDsse: Readonly<Record<string, Judge>> = {
  dsse: judgeBy(
    dsseShape,
    ['bytes', (input) => judgeEnvelope(input)],
    ['with a second opinion', (input) => judgeEnvelope(input, SECOND_OPINION)],
  ),
};

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
