import * as z from 'zod';
import { defined, memoryAccess, toUtf8 } from '../../bytes/index.ts';
import { digestSchema } from '../../contract/index.ts';
import { verifySummary } from '../../policy/index.ts';
import { parseTrustStore } from '../../trust/index.ts';
import { type SecondOpinion, verifyDsse, verifyPart } from '../../verify/index.ts';
import { bytesOfBase64, type Kind, defineKind, reportOutcome, type Outcome } from '../outcome.ts';
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

async function envelopeOutcome(
  { envelope, trust, part, manifest, asOfMs, ...known }: z.infer<typeof dsseShape>,
  secondOpinion?: SecondOpinion,
): Promise<Outcome> {
  const dsse = toUtf8(envelope);
  const how = {
    asOfMs,
    ...(trust !== undefined && { trust: parseTrustStore(toUtf8(trust)) }),
    ...defined({ secondOpinion }),
  };
  if (part !== undefined) {
    const report = await verifyPart(memoryAccess(bytesOfBase64(part)), { ...how, dsse });
    return reportOutcome(report.verdict, [report]);
  }
  const about = manifest === undefined ? {} : { manifest: toUtf8(manifest) };
  const report = verifyDsse(dsse, { ...how, ...known, ...about });
  return reportOutcome(report.verdict, [report]);
}

export const dsseKinds: Readonly<Record<string, Kind>> = {
  dsse: defineKind(
    dsseShape,
    ['bytes', (input) => envelopeOutcome(input)],
    ['with a second opinion', (input) => envelopeOutcome(input, SECOND_OPINION)],
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

function summaryOutcome({ envelope, trust, asOfMs, threshold, ...expect }: z.infer<typeof shape>): Outcome {
  const report = verifySummary(toUtf8(envelope), {
    asOfMs,
    expect,
    ...(trust !== undefined && { trust: parseTrustStore(toUtf8(trust)) }),
    ...defined({ threshold }),
  });
  return reportOutcome(report.verdict, [report]);
}

export const summariesKinds: Readonly<Record<string, Kind>> = {
  summaries: defineKind(shape, ['bytes', summaryOutcome]),
};
