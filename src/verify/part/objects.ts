import { digestSoon } from '../../bytes/hash.ts';
import type { RunResult } from '../../contract/resources/run.ts';
import { ATTESTATION, BUNDLE_MANIFEST, findEntry, readEntry } from '../../evidence/bundle/part.ts';
import { type BundleObject, parseRunResult } from '../../evidence/bundle/manifest.ts';
import type { ZipEntry } from '../../zip/read/entry.ts';
import { finding, findingsOf } from '../finding.ts';
import { recordCheck, type StepOf } from '../step.ts';
import type { BundleContext, ReadEntry } from './context.ts';
import { checkRun, readRunFacts, type RunFacts } from './run.ts';
import type { Finding } from '../report.ts';

type ReadObjects = {
  readonly entries: ReadonlyMap<string, ReadEntry>;
  readonly run?: Run;
};

export type Run = { readonly result: RunResult; readonly facts: RunFacts };

/** `bundle.objects`: the archive has exactly the listed objects, with the listed sizes and digests. */
export async function checkObjects(bundle: BundleContext): Promise<StepOf<ReadObjects>> {
  const { archive, manifest, subject, settings } = bundle;
  const unlisted = new Map(archive.entries.map((entry) => [entry.name, entry]));
  const findings: Finding[] = [];
  const entries = new Map<string, ReadEntry>();
  let run: Run | undefined;
  for (const object of manifest.objects) {
    settings.signal?.throwIfAborted();
    const { path } = object;
    const entry = unlisted.get(path);
    unlisted.delete(path);
    if (entry === undefined) {
      findings.push(finding('object.MISSING', subject, { path, message: `the archive has no ${path}` }));
      continue;
    }
    try {
      const read = await readObject(bundle, entry, object);
      entries.set(path, read);
      findings.push(...compareObject(subject, object, read));
      if (read.runResult === undefined) continue;
      run = { result: read.runResult, facts: readRunFacts(read.runResult) };
      findings.push(...checkRun(subject, path, run.facts));
    } catch (error) {
      settings.signal?.throwIfAborted();
      findings.push(...findingsOf(error, subject, path));
    }
  }
  for (const path of unlisted.keys()) {
    if (path === BUNDLE_MANIFEST || path === ATTESTATION) continue;
    findings.push(finding('object.EXTRA', subject, { path, message: `the manifest does not list ${path}` }));
  }
  findings.push(...checkOrder(bundle));
  return { ...recordCheck('bundle.objects', findings), value: { entries, ...(run && { run }) } };
}

/** Reads an object once: every object is digested as it streams, and the run result is parsed as well. */
async function readObject(
  { archive, settings: { limits, signal } }: BundleContext,
  entry: ZipEntry,
  { role, digest: listed }: BundleObject,
): Promise<ReadEntry & { readonly runResult?: RunResult }> {
  if (role === 'run-result') {
    const whole = await readEntry(archive, entry, limits.runResultBytes);
    const read = { bytes: whole.length, digest: await digestSoon(whole) };
    // Bytes that do not match are reported as a mismatch, not as a broken document.
    return read.digest === listed ? { ...read, runResult: parseRunResult(whole, limits) } : read;
  }
  return archive.digest(entry, signal);
}

function compareObject(subject: string, listed: BundleObject, read: ReadEntry): Finding[] {
  if (read.bytes === listed.bytes && read.digest === listed.digest) return [];
  const { path } = listed;
  const rows = [
    ['object.BYTES_MISMATCH', 'size', String(listed.bytes), String(read.bytes)],
    ['object.DIGEST_MISMATCH', 'SHA-256', listed.digest, read.digest],
  ] as const;
  return rows
    .filter(([, , expected, actual]) => expected !== actual)
    .map(([code, what, expected, actual]) => {
      const message = `the ${what} of the object does not match`;
      return finding(code, subject, { path, message, expected, actual });
    });
}

function checkOrder({ archive, manifest, subject }: BundleContext): Finding[] {
  const signed = findEntry(archive, ATTESTATION) !== undefined;
  const order = [
    BUNDLE_MANIFEST,
    ...(signed ? [ATTESTATION] : []),
    ...manifest.objects.map(({ path }) => path),
  ];
  const stray = archive.entries.find((entry, i) => entry.name !== order[i]);
  if (stray === undefined || archive.entries.length !== order.length) return [];
  const message = 'the entries are not in the order manifest, attestation, objects by path';
  return [finding('zip.ORDER_UNUSUAL', subject, { path: stray.name, message })];
}
