import type { CodeTable } from './entry.ts';

/** Codes of work that several machines share, through a queue or in shards. */
export const queueCodes = {
  'queue.UNREACHABLE': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'The database of the queue could not be reached, or closed the connection.',
    action: 'Check the address and the server, then run the command again; finished work is kept.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.REFUSED': {
    class: 'refused',
    severity: 'error',
    meaning: 'The database of the queue refuses the user, the database name, or a statement.',
    action: 'Check the user, the password and the right to create a schema.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.RUN_MISMATCH': {
    class: 'usage',
    severity: 'error',
    meaning: 'A different command started the run of this name.',
    action: 'Use the same command on every machine, or choose another --queue-name.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.WORKER_LOST': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'Every process that took this job ended without a result, until no retries remained.',
    action: 'Find out why the processes end (memory is the usual reason), then run the command again.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.JOB_CANCELLED': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'The job was cancelled in the database of the queue, so it was not done.',
    action: 'Run the command again if you still need it.',
    clause: 'docs/scale.md, A queue',
  },
  'report.SHARD_MISSING': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'The reports of some shards are missing, so the complete result is unknown.',
    action: 'Pass the reports of all shards, and run the shards again whose reports are lost.',
    clause: 'docs/scale.md, Putting shards together',
  },
  'report.MERGE_CONFLICT': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'Two reports contradict each other about one export, or belong to different runs.',
    action: 'Pass one report of each shard, all from one run over one list.',
    clause: 'docs/scale.md, Putting shards together',
  },
  'report.MERGE_MIXED': {
    class: 'usage',
    severity: 'error',
    meaning: 'The reports are of different kinds, or some are shards and others are complete.',
    action: 'Merge the reports of one command at a time.',
    clause: 'docs/scale.md, Putting shards together',
  },
} as const satisfies CodeTable;
