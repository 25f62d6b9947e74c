// A runner: `drillproof worker --runner docs/examples/runner.js` calls it for each queued job.
// It answers prompts with their own words in capitals and "reproduces" runs by copying the result of the original.
// Replace both with your own agent and your own world.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Waits until the time is over or the work is cancelled, exceeds its deadline or goes to another worker. */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

/** An authoring turn: `turn` has the prompt and its limits, `history` the earlier turns of the conversation. */
async function answer({ turn }, { signal, progress }) {
  await progress({ actualModel: 'capitals-1', turnsUsed: 0 });
  await pause(10, signal);
  if (turn.prompt.trim() === '') {
    // An intended failure: the operation and the turn fail with this error.
    return { outcome: 'failed', error: { code: 'author.PROMPT_EMPTY', message: 'the prompt has no words' } };
  }
  return { outcome: 'succeeded', turnsUsed: 1, resultText: turn.prompt.toUpperCase() };
}

/** The files of a run by role. A real runner records them while the run takes place. */
const recordings = ({ request }) => ({
  evidence: `the journal of ${request.runId}`,
  state: `the state after ${request.runId}`,
  trajectory: `the steps of ${request.runId}`,
});

const hash = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/**
 * The evidence of a run: its signed part, if the variable RUNNER_KEY_FILE names the file of a key. It becomes the evidence
 * bundle of the rerun.
 */
async function pack(run, runResult, texts, folder) {
  const { RUNNER_KEY_FILE, RUNNER_ISSUER = 'example runner' } = process.env;
  if (RUNNER_KEY_FILE === undefined) return undefined;
  const { packBundle } = await import('drillproof');
  const { readSigningKey } = await import('drillproof/node');
  const { signer } = readSigningKey(await readFile(RUNNER_KEY_FILE));
  const { evidenceBundleId, organizationId, projectId, hostedRunId, rerunOfHostedRunId } = run;
  const ids = { evidenceBundleId, organizationId, projectId, hostedRunId, rerunOfHostedRunId };
  const objects = Object.entries(texts).map(([role, text]) => ({
    path: `objects/${role}.txt`,
    mediaType: 'text/plain',
    role,
    open: async function* () {
      yield Buffer.from(text);
    },
  }));
  const now = Date.now();
  const input = { ...ids, runId: run.request.runId, createdAtMs: now, runResult, objects };
  const packed = await packBundle(input, { signer, issuer: RUNNER_ISSUER, issuedAtMs: now });
  await writeFile(join(await folder(), 'part.zip'), packed.archive());
  return 'part.zip'; // in the folder of the job, which is removed after it
}

/** A rerun: `identity` has the pinned inputs, `session` is its world, `original` the run that it reproduces. */
async function reproduce({ run, identity: pinned, session, original }, { signal, progress, folder }) {
  await progress({ session: 'ready' });
  await pause(10, signal);
  if (original.result === undefined) {
    return {
      outcome: 'failed',
      error: { code: 'drill.RESULT_ABSENT', message: 'the original has no result' },
    };
  }
  const texts = recordings(run);
  const identity = { ...original.result.identity, ...pinned, worldInstanceId: session.sessionId };
  const [evidenceHash, stateHash, trajectoryHash] = ['evidence', 'state', 'trajectory'].map((role) =>
    hash(texts[role]),
  );
  const result = { ...original.result, identity, evidenceHash, stateHash, trajectoryHash };
  return { outcome: 'succeeded', result, evidence: await pack(run, result, texts, folder) };
}

const work = { 'authoring.turn': answer, 'run.rerun': reproduce };

export const runner = {
  kinds: ['authoring.turn', 'run.rerun'],
  // After an error, the job is tried again after a pause. A returned value is final.
  run: (job, context) => work[job.kind](job, context),
};
