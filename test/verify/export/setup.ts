/** A sound export of two bundles and a local report, and its verification with the key that signed it. */
import { memorySource, type EvidenceSource } from '../../../src/evidence/source.ts';
import { verifyExport, type VerifyExportOptions } from '../../../src/verify/export/export.ts';
import type { ExportReport } from '../../../src/verify/report.ts';
import { makeExport, makeTrust, NOW, pack } from '../../support/evidence.ts';

export type Files = Record<string, Uint8Array>;
export const PART = 'parts/evidence_000000000001.zip';
export const SECOND = 'parts/evidence_000000000002.zip';
export const REPORT = 'local-reports/lrep_000000000001.zip';

export const sample = await makeExport();
export const trust = makeTrust(sample.signer);
export const options = { asOfMs: NOW, trust };
export const source = memorySource(sample.files);
export const zip = await pack(Object.entries(sample.files));

type More = Partial<VerifyExportOptions>;
export const verifySource = (from: EvidenceSource, more: More = {}): Promise<ExportReport> =>
  verifyExport(from, { ...options, ...more });
export const verify = (files: Files, more: More = {}): Promise<ExportReport> =>
  verifySource(memorySource(files), more);
