// A runner in TypeScript: `drillproof worker --runner docs/examples/runner-typescript` starts it for each queued job.
// It answers prompts with their own words in capitals and "reproduces" runs by copying the result of the original.
// Replace both with your own agent and your own world. It needs Node 22.18, the package drillproof, and a key in RUNNER_KEY.

import { createHash } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packBundle } from 'drillproof';
import { readSigningKey } from 'drillproof/node';
import type { RerunJob, RerunOutcome, TurnJob, TurnOutcome } from 'drillproof/server';

/** The document of a job. */
type Job = (TurnJob | RerunJob) & { readonly v: 1; readonly folder: string; readonly secrets: string };

// Events go to descriptor 3. Standard output and error are the log.
const write = (event: object): void => void writeSync(3, `${JSON.stringify(event)}\n`);

/** An authoring turn: `turn` has the prompt and its limits, `history` the earlier turns of the conversation. */
function answer({ turn }: TurnJob): TurnOutcome {
  write({ progress: { actualModel: 'capitals-1', turnsUsed: 0 } });
  // An intended failure: the operation and the turn fail with this error.
  if (turn.prompt.trim() === '')
    return { outcome: 'failed', error: { code: 'author.PROMPT_EMPTY', message: 'the prompt has no words' } };
  return { outcome: 'succeeded', turnsUsed: 1, resultText: turn.prompt.toUpperCase() };
}

type Result = Extract<RerunOutcome, { outcome: 'succeeded' }>['result'];

/** A rerun: `identity` has the pinned inputs, `session` is its world, `original` the run that it reproduces. */
async function reproduce(job: RerunJob & Job): Promise<RerunOutcome> {
  write({ progress: { session: 'ready' } });
  const { run, identity: pinned, session, original } = job;
  if (original.result === undefined)
    return {
      outcome: 'failed',
      error: { code: 'drill.RESULT_ABSENT', message: 'the original has no result' },
    };
  // A real runner records these files while the run takes place.
  const record = (role: string) => Buffer.from(`the ${role} of ${run.request.runId}`);
  const hash = (role: string) => `sha256:${createHash('sha256').update(record(role)).digest('hex')}` as const;
  const result = {
    ...original.result,
    identity: { ...original.result.identity, ...pinned, worldInstanceId: session.sessionId },
    evidenceHash: hash('evidence'),
    stateHash: hash('state'),
    trajectoryHash: hash('trajectory'),
  };
  return { outcome: 'succeeded', result, evidence: await pack(job, result, record) };
}

/** Packs and signs the evidence of a run. The path of the part is relative to the folder of the job. */
async function pack(
  job: RerunJob & Job,
  runResult: Result,
  record: (role: string) => Buffer,
): Promise<string> {
  const { evidenceBundleId, organizationId, projectId, hostedRunId, rerunOfHostedRunId, request } = job.run;
  const { RUNNER_KEY } = JSON.parse(readFileSync(job.secrets, 'utf8')) as { RUNNER_KEY: string };
  const { signer } = readSigningKey(Buffer.from(RUNNER_KEY));
  const objects = (['evidence', 'state', 'trajectory'] as const).map((role) => ({
    path: `objects/${role}.txt`,
    mediaType: 'text/plain',
    role,
    open: async function* () {
      yield record(role);
    },
  }));
  const ids = {
    evidenceBundleId,
    organizationId,
    projectId,
    hostedRunId,
    rerunOfHostedRunId,
    runId: request.runId,
  };
  const nowMs = Date.now();
  const { trial, trialCount, attempt, attemptLimit } = job.original.request;
  const packed = await packBundle(
    { ...ids, createdAtMs: nowMs, runResult, objects },
    {
      signer,
      issuer: 'example runner',
      issuedAtMs: nowMs,
      original: { trial, trialCount, attempt, attemptLimit },
    },
  );
  await writeFile(join(job.folder, 'part.zip'), packed.archive());
  return 'part.zip';
}

write({ v: [1], kinds: ['authoring.turn', 'run.rerun'] });
const text = readFileSync(0, 'utf8');
// Without a document, the worker only asked for the kinds.
if (text !== '') {
  const job = JSON.parse(text) as Job;
  console.log('attempt', job.attempt, 'of', job.operationId);
  write({ result: job.kind === 'authoring.turn' ? answer(job) : await reproduce(job) });
}
