import * as z from 'zod';
import { defined, digestOf, platform as portable, toUtf8 } from '../../bytes/index.ts';
import {
  bundleManifestBytes,
  DEFAULT_LIMITS,
  exportManifestBytes,
  parseBundleManifest,
  parseExportManifest,
  selectionDigest,
} from '../../evidence/index.ts';
import { readZipWithYauzl } from '../../node/second-opinion/index.ts';
import { parseTrustStore } from '../../trust/index.ts';
import { type SecondOpinion, verifyAttestation, verifyToolSource } from '../../verify/index.ts';
import { type Kind, defineKind, reportOutcome, type Outcome, tryOutcome } from '../outcome.ts';

export const SECOND_OPINION: SecondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };

const attestationShape = z.object({
  attestation: z.string(),
  trust: z.string().exactOptional(),
  asOfMs: z.int(),
  projectId: z.string().exactOptional(),
  organizationId: z.string().exactOptional(),
  manifestDigest: z.string().exactOptional(),
});

function attestationOutcome(input: z.infer<typeof attestationShape>, secondOpinion?: SecondOpinion): Outcome {
  const { attestation, trust, ...known } = input;
  const store = trust === undefined ? undefined : parseTrustStore(toUtf8(trust));
  const report = verifyAttestation(attestation, defined({ ...known, trust: store, secondOpinion }));
  return reportOutcome(report.verdict, [report]);
}

const toolShape = z.object({
  resource: z.string(),
  repeatedSource: z.object({ text: z.string(), times: z.int() }).optional(),
  lock: z.string().optional(),
});
const resourceShape = z.looseObject({ implementation: z.looseObject({}) });

function toolSourceOutcome({ resource, repeatedSource, lock }: z.infer<typeof toolShape>): Outcome {
  let text = resource;
  if (repeatedSource !== undefined) {
    const { implementation, ...rest } = resourceShape.parse(JSON.parse(resource));
    const source = repeatedSource.text.repeat(repeatedSource.times);
    text = JSON.stringify({ ...rest, implementation: { ...implementation, source } });
  }
  const report = verifyToolSource(text, lock === undefined ? {} : { lock: toUtf8(lock) });
  return reportOutcome(report.verdict, [report]);
}

/** A manifest that is accepted is written again as the bytes that it came from. */
function same(bytes: Uint8Array, written: Uint8Array): void {
  if (digestOf(bytes) !== digestOf(written)) throw new TypeError('other bytes are written');
}

export const documentsKinds: Readonly<Record<string, Kind>> = {
  'bundle-manifests': defineKind(
    z.object({ manifest: z.string(), limits: z.object({ objects: z.int() }).optional() }),
    [
      'parsed',
      (input) =>
        tryOutcome(() => {
          const bytes = toUtf8(input.manifest);
          const manifest = parseBundleManifest(bytes, { ...DEFAULT_LIMITS, ...input.limits });
          same(bytes, bundleManifestBytes(manifest));
          return { digest: digestOf(bytes), objects: manifest.objects.length };
        }),
    ],
  ),
  'export-manifests': defineKind(
    z.object({ manifest: z.string(), limits: z.object({ parts: z.int() }).optional() }),
    [
      'parsed',
      (input) =>
        tryOutcome(() => {
          const bytes = toUtf8(input.manifest);
          const manifest = parseExportManifest(bytes, { ...DEFAULT_LIMITS, ...input.limits });
          same(bytes, exportManifestBytes(manifest));
          const { parts, localReports } = manifest;
          return {
            digest: digestOf(bytes),
            selectionDigest: selectionDigest(parts, localReports),
            parts: parts.length,
            localReports: localReports.length,
          };
        }),
    ],
  ),
  attestations: defineKind(
    attestationShape,
    ['alone', (input) => attestationOutcome(input)],
    ['with a second opinion', (input) => attestationOutcome(input, SECOND_OPINION)],
  ),
  'tool-sources': defineKind(toolShape, ['resource', toolSourceOutcome]),
};
