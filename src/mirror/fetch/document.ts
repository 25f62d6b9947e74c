import { assertDeclaredDigest, collect } from '../../client/index.ts';
import type { Code } from '../../codes/index.ts';
import { DrillproofError, LimitError, TransportError } from '../../errors.ts';
import { callOptions, type Run } from '../run.ts';

/** A small document of an export, which comes as bytes. */
type WantedDocument = {
  readonly name: 'evidence.exports.manifest' | 'evidence.exports.attestation';
  readonly path: string;
  readonly maxBytes: number;
};

/**
 * The bytes of a document, as `assertRight` wants them. As with files, bytes that cannot be right are fetched once
 * more, in case they were spoilt on the way.
 * @throws TransportError `transport.BODY_TOO_LONG`, `transport.DIGEST_MISMATCH`, and what `assertRight` and the client
 *   throw
 */
export async function fetchDocument(
  run: Run,
  wanted: WantedDocument,
  assertRight: (bytes: Uint8Array) => void,
): Promise<Uint8Array> {
  for (let restarts = 0; ; restarts++) {
    try {
      const bytes = await receive(run, wanted);
      assertRight(bytes);
      return bytes;
    } catch (cause) {
      run.signal?.throwIfAborted();
      if (restarts > 0 || !isSpoilt(cause)) throw cause;
      run.tell({ type: 'retry', path: wanted.path, error: cause, delayMs: 0 });
    }
  }
}

// A document is small: what breaks off is fetched again from its beginning.
async function receive(run: Run, { name, path, maxBytes }: WantedDocument): Promise<Uint8Array> {
  const { client, exportRef } = run;
  for (let retries = 0; ; retries++) {
    const options = callOptions(run, path);
    const download = await client.download(name, exportRef, options);
    try {
      const bytes = await collect(download.body, maxBytes);
      assertDeclaredDigest(bytes, download.reprDigest);
      return bytes;
    } catch (cause) {
      if (cause instanceof LimitError)
        throw new TransportError('transport.BODY_TOO_LONG', `${path} goes on past ${maxBytes} bytes`, {
          path,
        });
      await client.backOff(cause, retries, options);
    }
  }
}

/** What says, beside what is not even JSON, that other bytes came than those of the document. */
const SPOILT: ReadonlySet<Code> = new Set<Code>([
  'attestation.INVALID',
  'export.ATTESTATION_SUBJECT_MISMATCH',
  'export.RESOURCE_MISMATCH',
  'transport.BODY_TOO_LONG',
  'transport.RANGE_INVALID',
]);

const isSpoilt = (cause: unknown): boolean =>
  cause instanceof DrillproofError && (SPOILT.has(cause.code) || cause.code.startsWith('json.'));
