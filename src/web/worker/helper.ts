import { defined } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';
import { trustStore } from '../../trust/index.ts';
import { createPartContext, type Settings, settingsOf, verifyArchive } from '../../verify/index.ts';
import { blobAccess } from '../blob-access.ts';
import type { Failure, HelperSettings, PartAnswer, PartJob } from './messages.ts';

/** An error as it crosses workers; a bug in this program is one with its own code. */
export function describeFailure(error: unknown): Failure {
  if (!(error instanceof DrillproofError))
    return { code: 'internal.BUG', message: error instanceof Error ? error.message : String(error) };
  const { code, message, path } = error;
  return defined({ code, message, path });
}

/** Verifies the parts that come through the port, one after the other. */
export function helpAt(port: MessagePort, onRead: (bytes: number) => void): void {
  let settings: Settings | undefined;
  let last = Promise.resolve();
  port.addEventListener('message', ({ data }: MessageEvent<HelperSettings | readonly PartJob[]>) => {
    if ('asOfMs' in data) {
      const { asOfMs, trustedKeys } = data;
      settings = settingsOf({ asOfMs, ...defined({ trust: trustedKeys && trustStore(trustedKeys) }) });
      return;
    }
    last = last.then(async () => {
      const answers: PartAnswer[] = [];
      for (const job of data) answers.push(await answerJob(job, settings!, onRead));
      port.postMessage(answers);
    });
  });
  port.start();
}

async function answerJob(
  { id, path, blob, listed }: PartJob,
  settings: Settings,
  onRead: (bytes: number) => void,
): Promise<PartAnswer> {
  try {
    return {
      id,
      report: await verifyArchive(
        blobAccess(blob, { path, onRead }),
        createPartContext(settings, { listed }),
      ),
    };
  } catch (error) {
    return { id, failure: describeFailure(error) };
  }
}
