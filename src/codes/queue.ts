import { cite } from './entry.ts';

/** Codes of work that several machines share, through a queue or in shards. */
export const queueCodes = {
  'queue.UNREACHABLE': cite('docs/archive/scale.md, A queue').inaccessible(
    'The database of the queue could not be reached, or closed the connection.',
    'Check the address and the server, then run the command again; finished work is kept.',
  ),
  'queue.REFUSED': cite('docs/archive/scale.md, A queue').refused(
    'The database of the queue refuses the user, the database name, or a statement.',
    'Check the user, the password and the right to create a schema.',
  ),
  'queue.RUN_MISMATCH': cite('docs/archive/scale.md, A queue').usage(
    'A different command started the run of this name.',
    'Use the same command on every machine, or choose another --queue-name.',
  ),
  'queue.WORKER_LOST': cite('docs/archive/scale.md, A queue').inaccessible(
    'Every process that took this job ended without a result, until no retries remained.',
    'Find out why the processes end (memory is the usual reason), then run the command again.',
  ),
  'queue.JOB_CANCELLED': cite('docs/archive/scale.md, A queue').inaccessible(
    'The job was cancelled in the database of the queue, so it was not done.',
    'Run the command again if you still need it.',
  ),
  'report.SHARD_MISSING': cite('docs/archive/scale.md, Putting shards together').inaccessible(
    'The reports of some shards are missing, so the complete result is unknown.',
    'Pass the reports of all shards; if a report is lost, run its shard again.',
  ),
  'report.MERGE_CONFLICT': cite('docs/archive/scale.md, Putting shards together').mismatch(
    'Two reports contradict each other about one export, or belong to different runs.',
    'Pass one report of each shard, all from one run over one list.',
  ),
  'report.MERGE_MIXED': cite('docs/archive/scale.md, Putting shards together').usage(
    'The reports are of different kinds, or some are shards and others are complete.',
    'Merge the reports of one command at a time.',
  ),
} as const;
