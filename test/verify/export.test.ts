import { describe, expect, test } from 'vitest';
import { memorySource } from '../../src/evidence/index.ts';
import { verifyExport } from '../../src/verify/index.ts';
import { makeExport, makeTrust, NOW } from '../support/evidence.ts';

describe('a whole export', () => {
  test('is verified when a trusted key signed every bundle and the list', async () => {
    const { files, signer } = await makeExport();
    const report = await verifyExport(memorySource(files), { asOfMs: NOW, trust: makeTrust(signer) });
    expect(report.findings).toEqual([]);
    expect(report.verdict).toBe('verified');
  });
});
