// A runner: `drillproof worker --runner docs/examples/runner.js` calls it for each queued job.
// It answers prompts with their own words in capitals and "reproduces" runs by copying the result of the original.
// Replace both with your own agent and your own world.

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

/** An authoring turn: `turn` has the prompt and its limits, `session` the conversation. */
async function answer({ turn }, { signal, progress }) {
  await progress({ actualModel: 'capitals-1', turnsUsed: 0 });
  await pause(10, signal);
  if (turn.prompt.trim() === '') {
    // An intended failure: the operation and the turn fail with this error.
    return { outcome: 'failed', error: { code: 'author.PROMPT_EMPTY', message: 'the prompt has no words' } };
  }
  return { outcome: 'succeeded', turnsUsed: 1, resultText: turn.prompt.toUpperCase() };
}

/** A rerun: `run` has the pinned inputs, `session` is its world, `original` is the run that it reproduces. */
async function reproduce({ run, original }, { signal, progress }) {
  await progress({ session: 'ready' });
  await pause(10, signal);
  if (original.result === undefined) {
    return {
      outcome: 'failed',
      error: { code: 'drill.RESULT_ABSENT', message: 'the original has no result' },
    };
  }
  const { runId, drillId, seed, trial, trialCount, attempt, attemptLimit } = run.request;
  const pinned = { runId, drillId, seed, trial, trialCount, attempt, attemptLimit, buildHash: run.buildHash };
  const identity = { ...original.result.identity, ...pinned };
  return { outcome: 'succeeded', result: { ...original.result, identity } };
}

const work = { 'authoring.turn': answer, 'run.rerun': reproduce };

export const runner = {
  kinds: ['authoring.turn', 'run.rerun'],
  // What is thrown here is tried again after a pause; what is returned is the end of it.
  run: (job, context) => work[job.kind](job, context),
};
