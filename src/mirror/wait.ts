import type { EvidenceExport } from '../contract/index.ts';
import { ControlError } from '../client/index.ts';
import { DrillproofError, TransportError } from '../errors.ts';
import { EXPORT_RESOURCE } from '../evidence/index.ts';
import { callOptions, type Run } from './run.ts';

const FIRST_LOOK_MS = 1_000;
const LOOK_EVERY_MS = 15_000;
/** What is waited for although nobody knows yet whether it succeeds. */
const UNFINISHED: ReadonlySet<string> = new Set<EvidenceExport['state']>(['pending', 'generating']);

/**
 * The export resource, once the export is generated, failed or deleted, or as it is when nobody wants to wait. The
 * looks come ever less often; a control plane that asks for a longer pause gets it.
 * @throws DrillproofError `mirror.WAIT_EXCEEDED`; TransportError `transport.RESPONSE_INVALID`; what the client throws
 */
export async function waitUntilGenerated(run: Run): Promise<EvidenceExport> {
  const untilMs = run.startedAtMs + run.waitMs;
  for (let delayMs = FIRST_LOOK_MS; ; delayMs = Math.min(delayMs * 2, LOOK_EVERY_MS)) {
    const looked = await look(run);
    if ('resource' in looked && (run.waitMs === 0 || !UNFINISHED.has(looked.resource.state)))
      return looked.resource;
    const pauseMs = Math.max(delayMs, 'askedMs' in looked ? looked.askedMs : 0);
    if (run.now() + pauseMs > untilMs)
      throw new DrillproofError('mirror.WAIT_EXCEEDED', `the export is not generated after ${run.waitMs} ms`);
    if ('resource' in looked) tellWaiting(run, looked.resource, pauseMs);
    await run.sleep(pauseMs, run.signal);
  }
}

type Looked = { readonly resource: EvidenceExport } | { readonly askedMs: number };

async function look(run: Run): Promise<Looked> {
  const { client, exportRef } = run;
  try {
    const resource = await client.evidence.exports.read(exportRef, callOptions(run, EXPORT_RESOURCE));
    if (resource.evidenceExportId === exportRef.evidenceExportId) return { resource };
  } catch (cause) {
    const asks = cause instanceof ControlError && cause.retryable && cause.retryAfterMs !== undefined;
    if (!asks || run.waitMs === 0) throw cause;
    return { askedMs: cause.retryAfterMs };
  }
  throw new TransportError('transport.RESPONSE_INVALID', 'the answer describes another export');
}

function tellWaiting(run: Run, resource: EvidenceExport, delayMs: number): void {
  const { state, completedBundleCount, bundleCount } = resource;
  run.tell({ type: 'waiting', state, completed: completedBundleCount, of: bundleCount, delayMs });
}
