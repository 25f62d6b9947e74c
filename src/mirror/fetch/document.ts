import { collectBytes } from '../../bytes/async.ts';
import { assertDeclaredDigest } from '../../client/http/headers.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError, LimitError, TransportError } from '../../errors.ts';
import { callOptions, type MirrorRun } from '../run.ts';

/** A small document of an export. */
type WantedDocument = {
  readonly name: 'evidence.exports.manifest' | 'evidence.exports.attestation';
  readonly path: string;
  readonly maxBytes: number;
};

/**
 * Fetches a document that `assertValid` accepts. As with files, invalid bytes are fetched once more, in case they were
 * damaged in transit.
 * @throws TransportError `transport.BODY_TOO_LONG`, `transport.DIGEST_MISMATCH`, and what `assertValid` and the client
 *   throw
 */
export async function fetchDocument(
  run: MirrorRun,
  wanted: WantedDocument,
  assertValid: (bytes: Uint8Array) => void,
): Promise<Uint8Array> {
  for (let restarts = 0; ; restarts++) {
    try {
      const bytes = await receive(run, wanted);
      assertValid(bytes);
      return bytes;
    } catch (cause) {
      run.signal?.throwIfAborted();
      if (restarts > 0 || !isDamaged(cause)) throw cause;
      run.report({ type: 'retry', path: wanted.path, error: cause, delayMs: 0 });
    }
  }
}

// A document is small, so an interrupted one is fetched again from its beginning.
async function receive(run: MirrorRun, { name, path, maxBytes }: WantedDocument): Promise<Uint8Array> {
  const { client, exportRef } = run;
  for (let retries = 0; ; retries++) {
    const options = callOptions(run, path, run.pacer.attempts());
    const download = await client.download(name, exportRef, options);
    try {
      const bytes = await collectBytes(download.body, maxBytes);
      assertDeclaredDigest(bytes, download.reprDigest);
      return bytes;
    } catch (cause) {
      const message = `${path} is longer than ${maxBytes} bytes`;
      if (cause instanceof LimitError) throw new TransportError('transport.BODY_TOO_LONG', message, { path });
      await client.backOff(cause, retries, options);
    }
  }
}

/** Codes, in addition to those of invalid JSON, that show that the bytes are not those of the document. */
const DAMAGED: ReadonlySet<Code> = new Set<Code>([
  'attestation.INVALID',
  'export.ATTESTATION_SUBJECT_MISMATCH',
  'export.RESOURCE_MISMATCH',
  'transport.BODY_TOO_LONG',
  'transport.RANGE_INVALID',
]);

const isDamaged = (cause: unknown): boolean =>
  cause instanceof DrillproofError && (DAMAGED.has(cause.code) || cause.code.startsWith('json.'));
