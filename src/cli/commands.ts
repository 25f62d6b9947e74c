import type { Command } from 'commander';
import type { Cli } from './cli.ts';

/** A file in commands/: `define` gives a command its arguments, options, examples and action. */
type CommandFile = { define(command: Command, cli: Cli): void };

type CommandRow = {
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<CommandFile>;
};

const CHECK = 'Check evidence:';
const MAKE = 'Make and move evidence:';
const RUN = 'Run a control plane:';

/** Every command. Only the one that is called is loaded. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  verify: {
    summary: 'judge exports and parts, offline',
    group: CHECK,
    load: () => import('./verify/command.ts'),
  },
  gate: {
    summary: 'answer yes, no or could not tell under a policy',
    group: CHECK,
    load: () => import('./gate/command.ts'),
  },
  policy: {
    summary: 'write and try the policies that gate applies',
    group: CHECK,
    load: () => import('./policy/command.ts'),
  },
  inspect: {
    summary: 'show what is in an export or part, without a verdict',
    group: CHECK,
    load: () => import('./inspect/command.ts'),
  },
  diff: {
    summary: 'say what changed between two reports',
    group: CHECK,
    load: () => import('./diff/command.ts'),
  },
  receipts: {
    summary: 'list and verify the chain of receipts of mirrors',
    group: CHECK,
    load: () => import('./receipts/command.ts'),
  },
  explain: {
    summary: 'say what a code means and what to do',
    group: CHECK,
    load: () => import('./explain/command.ts'),
  },
  report: {
    summary: 'put the reports of shards and machines together',
    group: CHECK,
    load: () => import('./report/command.ts'),
  },
  keys: {
    summary: 'make signing keys and keep a trust store',
    group: CHECK,
    load: () => import('./keys/command.ts'),
  },
  selftest: {
    summary: 'put the conformance vectors to this program or another',
    group: CHECK,
    load: () => import('./selftest/command.ts'),
  },
  dsse: {
    summary: 'sign and check evidence as in-toto statements in DSSE',
    group: CHECK,
    load: () => import('./dsse/command.ts'),
  },
  vsa: {
    summary: 'check verification summaries, which a gate signs',
    group: CHECK,
    load: () => import('./vsa/command.ts'),
  },
  scrub: {
    summary: 'read an archive of mirrors again, in slices',
    group: CHECK,
    load: () => import('./scrub/command.ts'),
  },
  mirror: {
    summary: 'bring an export here, exactly',
    group: MAKE,
    load: () => import('./mirror/command.ts'),
  },
  pack: {
    summary: 'pack the evidence of one run into a part',
    group: MAKE,
    load: () => import('./pack/command.ts'),
  },
  export: {
    summary: 'put parts and local reports into one export',
    group: MAKE,
    load: () => import('./export/command.ts'),
  },
  reports: {
    summary: 'list the local reports of an export',
    group: MAKE,
    load: () => import('./reports/command.ts'),
  },
  'tool-source': {
    summary: 'read and check the source of a locked tool',
    group: MAKE,
    load: () => import('./tool-source/command.ts'),
  },
  serve: {
    summary: 'start the control plane on this machine',
    group: RUN,
    load: () => import('./serve/command.ts'),
  },
  worker: {
    summary: 'do the queued work of a control plane',
    group: RUN,
    load: () => import('./worker/command.ts'),
  },
  admin: {
    summary: 'organizations, projects, tokens and evidence of a control plane',
    group: RUN,
    load: () => import('./admin/command.ts'),
  },
};
