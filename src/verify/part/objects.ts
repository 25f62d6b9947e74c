import type { Finding } from '../report.ts';
import { abortable, type Digest, digester, digestOf } from '../../bytes/index.ts';
import {
  ATTESTATION,
  BUNDLE_MANIFEST,
  type BundleManifest,
  type BundleObject,
  findEntry,
  parseRunResult,
  readEntry,
} from '../../evidence/index.ts';
import type { ZipArchive, ZipEntry } from '../../zip/index.ts';
import type { Bundle } from './state.ts';
import { finding, findingsOf } from '../finding.ts';

/** `bundle.objects`: exactly the listed objects, every byte of each digested as it streams. */
export async function checkObjects(bundle: Bundle, archive: ZipArchive): Promise<void> {
  const { ledger, manifest, subject, settings } = bundle;
  const attestation = findEntry(archive, ATTESTATION);
  bundle.signed = attestation !== undefined;
  if (manifest === undefined) {
    ledger.skipped('bundle.objects', 'not_checked', 'there is no manifest that could be read');
    return;
  }
  const entries = new Map(archive.entries.map((entry) => [entry.name, entry]));
  const found: Finding[] = [];
  for (const object of manifest.objects) {
    settings.signal?.throwIfAborted();
    found.push(...(await checkObject(bundle, archive, entries.get(object.path), object)));
    entries.delete(object.path);
  }
  for (const name of entries.keys()) {
    if (name === BUNDLE_MANIFEST || name === ATTESTATION) continue;
    const message = `the manifest does not list ${name}`;
    found.push(finding('object.EXTRA', subject, { path: name, message }));
  }
  found.push(...orderWarning(subject, archive, manifest, attestation !== undefined));
  ledger.ran('bundle.objects', found);
}

async function checkObject(
  bundle: Bundle,
  archive: ZipArchive,
  entry: ZipEntry | undefined,
  object: BundleObject,
): Promise<Finding[]> {
  const { subject, settings } = bundle;
  const { path } = object;
  if (entry === undefined)
    return [finding('object.MISSING', subject, { path, message: `the archive lacks ${path}` })];
  try {
    const { bytes, digest } = await readObject(bundle, archive, entry, object);
    bundle.read.set(path, { bytes, digest });
    return differences(subject, object, bytes, digest);
  } catch (error) {
    settings.signal?.throwIfAborted();
    return findingsOf(error, subject, path);
  }
}

function differences(
  subject: string,
  { path, ...object }: BundleObject,
  bytes: number,
  digest: Digest,
): Finding[] {
  const found: Finding[] = [];
  if (bytes !== object.bytes) {
    const counts = { expected: String(object.bytes), actual: String(bytes) };
    found.push(
      finding('object.BYTES_MISMATCH', subject, { path, message: 'the object has another size', ...counts }),
    );
  }
  if (digest !== object.digest) {
    const digests = { expected: object.digest, actual: digest };
    found.push(
      finding('object.DIGEST_MISMATCH', subject, {
        path,
        message: 'the object has another SHA-256',
        ...digests,
      }),
    );
  }
  return found;
}

/** Reads an object once: every object is digested as it streams, and the run result is kept to be judged. */
async function readObject(
  bundle: Bundle,
  archive: ZipArchive,
  entry: ZipEntry,
  object: BundleObject,
): Promise<{ bytes: number; digest: Digest }> {
  if (object.role === 'run-result') {
    const whole = await readEntry(archive, entry, bundle.settings.limits.runResultBytes);
    const digest = digestOf(whole);
    // Bytes that are not the listed ones are reported as that, not as a broken document.
    if (digest === object.digest) bundle.runResult = parseRunResult(whole, bundle.settings.limits);
    return { bytes: whole.length, digest };
  }
  const atOnce = archive.readAtOnce(entry);
  if (atOnce !== undefined) return { bytes: atOnce.length, digest: digestOf(atOnce) };
  const sum = digester();
  for await (const chunk of abortable(archive.read(entry), bundle.settings.signal)) sum.update(chunk);
  return { bytes: sum.bytes, digest: sum.digest() };
}

function orderWarning(
  subject: string,
  archive: ZipArchive,
  manifest: BundleManifest,
  signed: boolean,
): Finding[] {
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
