import type { CodeTable } from './entry.ts';

/** Codes of work that several machines share, through a queue or in shards. */
export const queueCodes = {
  'queue.UNREACHABLE': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'The database of the queue could not be reached, or ended the connection.',
    action: 'Check the address and the server, then run the command again; what is done stays done.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.REFUSED': {
    class: 'refused',
    severity: 'error',
    meaning: 'The database of the queue refuses the user, the database that is named, or a statement.',
    action: 'Check the user, the password and the right to create a schema; see the cause named.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.RUN_MISMATCH': {
    class: 'usage',
    severity: 'error',
    meaning: 'The run of this name was begun by a command that does something else.',
    action: 'Give every machine the same command, or give this one another --queue-name.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.WORKER_LOST': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'Each process that had this work ended without a word, as often as it is tried.',
    action: 'See why the processes end (memory is the usual reason), then run the command again.',
    clause: 'docs/scale.md, A queue',
  },
  'queue.JOB_CANCELLED': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'Somebody cancelled this work in the database of the queue, so it was not done.',
    action: 'Run the command again if it is still wanted.',
    clause: 'docs/scale.md, A queue',
  },
  'report.SHARD_MISSING': {
    class: 'inaccessible',
    severity: 'error',
    meaning: 'Reports of some shards are there and those of others are not, so the whole is not known.',
    action: 'Give the reports of all shards; run those again whose reports are lost.',
    clause: 'docs/scale.md, Putting shards together',
  },
  'report.MERGE_CONFLICT': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'Two reports say different things of one export, or belong to different wholes.',
    action: 'Give one report of each shard, all of one run over one list.',
    clause: 'docs/scale.md, Putting shards together',
  },
  'report.MERGE_MIXED': {
    class: 'usage',
    severity: 'error',
    meaning: 'The reports are of different kinds, or of shards and of wholes, and make no whole together.',
    action: 'Merge the reports of one command at a time.',
    clause: 'docs/scale.md, Putting shards together',
  },
} as const satisfies CodeTable;
