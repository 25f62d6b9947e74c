import {
  checkArguments,
  optional,
  optionsOf,
  SIGNAL,
  TEXT,
  withMembers,
  withMethods,
} from '../bytes/arguments.ts';
import { createDigester } from '../bytes/hash.ts';
import { DrillproofError } from '../errors.ts';
import type { Client, ExportRef } from './client.ts';

/** One part of an export, with the size and digest that the export manifest lists for it. */
export type PartRef = ExportRef & {
  readonly evidenceBundleId: string;
  /** `sha256:` and 64 lowercase hex characters. */
  readonly digest: string;
  /** A decimal byte count, as in the row of the manifest. */
  readonly bytes: string;
};

/**
 * Downloads one part of an export and writes it to a stream (control API, Exports). The stream is closed only if the
 * bytes have the listed size and SHA-256; otherwise it is aborted, so that a writer can discard them. The part is not
 * verified: pass it to `verifyPart`. A failed download is not resumed: `mirrorExport` does that.
 * @throws TypeError for an argument of the wrong kind; DrillproofError `part.BYTES_MISMATCH`, `part.DIGEST_MISMATCH`;
 *   what `client.download` throws; the reason of an aborted `signal`
 * @example
 * const row = parseExportManifest(manifest).parts[0]!;
 * const file = Writable.toWeb(createWriteStream('part.zip'));
 * await downloadPart(client, { evidenceExportId, ...row }, file);
 */
export async function downloadPart(
  client: Pick<Client, 'download'>,
  part: PartRef,
  to: WritableStream<Uint8Array>,
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  checkArguments(KINDS, { client, part, to, options });
  const { projectId, evidenceExportId, evidenceBundleId, digest, bytes } = part;
  const writer = to.getWriter();
  try {
    options.signal?.throwIfAborted();
    const ref = { projectId, evidenceExportId, evidenceBundleId };
    const { body } = await client.download('evidence.exports.parts.download', ref, options);
    const sum = createDigester();
    for await (const chunk of body) {
      options.signal?.throwIfAborted();
      sum.update(chunk);
      if (sum.bytes > Number(bytes)) break;
      await writer.write(chunk);
    }
    if (String(sum.bytes) !== bytes) throw mismatch('part.BYTES_MISMATCH', part, bytes, String(sum.bytes));
    const actual = sum.digest();
    if (actual !== digest) throw mismatch('part.DIGEST_MISMATCH', part, digest, actual);
    await writer.close();
  } catch (error) {
    const cause: unknown = options.signal?.aborted === true ? options.signal.reason : error;
    await writer.abort(cause).catch(() => undefined); // the stream may have failed first
    throw cause;
  }
}

const KINDS = {
  client: withMethods('a client', 'download'),
  part: withMembers('a PartRef', {
    projectId: TEXT,
    evidenceExportId: TEXT,
    evidenceBundleId: TEXT,
    digest: TEXT,
    bytes: TEXT,
  }),
  to: withMethods('a WritableStream', 'getWriter'),
  options: optional(optionsOf({ signal: optional(SIGNAL) })),
};

const mismatch = (
  code: 'part.BYTES_MISMATCH' | 'part.DIGEST_MISMATCH',
  { evidenceBundleId }: PartRef,
  expected: string,
  actual: string,
): DrillproofError =>
  new DrillproofError(
    code,
    `the part ${evidenceBundleId} is ${actual}, not ${expected}. Download it again.`,
    { details: { expected, actual } },
  );
