import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyDirectory } from '../../node/verify-directory.ts';
import { count } from '../../report/text/figures.ts';
import type { TrustStore } from '../../trust/index.ts';
import type { ExportReport } from '../../verify/index.ts';
import { copyMirror, DAMAGES, type Damage } from './damages.ts';
import type { Evidence } from './make-evidence.ts';
import { expect, type Demo } from './stage.ts';

/** Verifies the mirror with nothing but the trust store. */
export async function verifyMirror(
  demo: Demo,
  trust: TrustStore,
  { packed }: Evidence,
): Promise<ExportReport> {
  const { tell, out } = demo;
  await tell('5. The mirror verified offline, with nothing but the trust store');
  const report = await judge(demo, join(out, 'mirror'), trust);
  const { parts, localReports, coverage, completeness } = report;
  const right = report.verdict === 'verified' && report.manifestDigest === packed.manifestDigest;
  const verified = parts.filter((part) => part.verdict === 'verified').length;
  const detail = `${count(verified)} of ${count(parts.length)} bundles, ${count(localReports.length)} local reports intact`;
  await expect(demo, `verdict ${report.verdict}`, right && verified === parts.length, detail);
  const all = coverage.coveredBytes === coverage.totalBytes && coverage.uncovered.length === 0;
  await expect(
    demo,
    'covered',
    all,
    `${count(coverage.coveredBytes)} of ${count(coverage.totalBytes)} bytes`,
  );
  await expect(demo, 'completeness', completeness === 'attested', completeness);
  return report;
}

const judge = ({ cli }: Demo, root: string, trust: TrustStore): Promise<ExportReport> =>
  verifyDirectory(root, { asOfMs: cli.now(), trust, signal: cli.signal });

/** Damages a copy in each way that there is, and looks for the finding. */
export async function tamper(demo: Demo, trust: TrustStore): Promise<void> {
  await demo.tell('6. Five ways to damage a copy of it, and what verification finds');
  for (const [i, damage] of DAMAGES.entries()) await tryDamage(demo, trust, damage, i);
}

async function tryDamage(demo: Demo, trust: TrustStore, damage: Damage, i: number): Promise<void> {
  const { cli, out, work } = demo;
  const copy = join(work, `damage-${i}`);
  await copyMirror(join(out, 'mirror'), copy);
  await damage.apply?.(copy);
  const report = await judge(demo, copy, damage.distrust?.(trust, cli.now()) ?? trust);
  await rm(copy, { recursive: true });
  const found = [...report.findings, ...report.parts.flatMap((part) => part.findings)];
  const hit = found.find((one) => one.code === damage.expected);
  const held = report.verdict === 'failed' && hit !== undefined;
  const detail =
    hit === undefined ? `${damage.expected} was not found` : `${hit.code}\n           ${hit.message}`;
  await expect(demo, damage.title, held, detail);
}
