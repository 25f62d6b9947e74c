import type { Command } from 'commander';
import type { Cli } from './cli.ts';

/** A command.ts: `define` gives the command its arguments, options, examples and action. */
type CommandFile = { define(command: Command, cli: Cli): void };

type CommandRow = {
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<CommandFile>;
};

const CHECK = 'Check evidence:';
const MAKE = 'Make and move evidence:';
const RUN = 'Run a control plane:';

/** Every command. Only the called one is loaded. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  verify: {
    summary: 'verify exports and parts offline',
    group: CHECK,
    load: () => import('./verify/command.ts'),
  },
  gate: {
    summary: 'answer yes, no or could not tell under a policy',
    group: CHECK,
    load: () => import('./gate/command.ts'),
  },
  policy: {
    summary: 'write, check, explain and test policies',
    group: CHECK,
    load: () => import('./policy/command.ts'),
  },
  inspect: {
    summary: 'show the contents of an export or part',
    group: CHECK,
    load: () => import('./inspect/command.ts'),
  },
  diff: {
    summary: 'compare two reports',
    group: CHECK,
    load: () => import('./diff/command.ts'),
  },
  receipts: {
    summary: 'list and verify the receipts of mirrors',
    group: CHECK,
    load: () => import('./receipts/command.ts'),
  },
  explain: {
    summary: 'explain a code or a check',
    group: CHECK,
    load: () => import('./explain/command.ts'),
  },
  report: {
    summary: 'merge the reports of shards',
    group: CHECK,
    load: () => import('./report/command.ts'),
  },
  keys: {
    summary: 'make signing keys and manage trust stores',
    group: CHECK,
    load: () => import('./keys/command.ts'),
  },
  selftest: {
    summary: 'run the conformance vectors',
    group: CHECK,
    load: () => import('./selftest/command.ts'),
  },
  dsse: {
    summary: 'sign evidence in a separate file, and verify it',
    group: CHECK,
    load: () => import('./dsse/command.ts'),
  },
  vsa: {
    summary: 'verify the signed summary of a gate',
    group: CHECK,
    load: () => import('./vsa/command.ts'),
  },
  scrub: {
    summary: 'read mirrors again, report damage and repair it',
    group: CHECK,
    load: () => import('./scrub/command.ts'),
  },
  mirror: {
    summary: 'copy exports and verify every byte',
    group: MAKE,
    load: () => import('./mirror/command.ts'),
  },
  pack: {
    summary: 'pack the evidence of one run into a part',
    group: MAKE,
    load: () => import('./pack/command.ts'),
  },
  export: {
    summary: 'put parts and local reports into an export',
    group: MAKE,
    load: () => import('./export/command.ts'),
  },
  reports: {
    summary: 'list the local reports of an export',
    group: MAKE,
    load: () => import('./reports/command.ts'),
  },
  'tool-source': {
    summary: 'save and check the source of a locked tool',
    group: MAKE,
    load: () => import('./tool-source/command.ts'),
  },
  serve: {
    summary: 'start a control plane',
    group: RUN,
    load: () => import('./serve/command.ts'),
  },
  worker: {
    summary: 'do the queued work of a control plane',
    group: RUN,
    load: () => import('./worker/command.ts'),
  },
  admin: {
    summary: 'administer a control plane',
    group: RUN,
    load: () => import('./admin/command.ts'),
  },
};
