import type { Command } from 'commander';
import type { Digest } from '../../../bytes/index.ts';
import { digest, fileSpec, jobsOption, many, time, wholeNumber, texts } from './options.ts';

/** `FILE,issuer=NAME[,keyId=ID]`, parsed. Without an issuer the command reports what is missing when it reads the key. */
export type KeySpec = { readonly file: string; readonly issuer?: string; readonly keyId?: string };

export type TrustOptions = { readonly trust?: readonly string[]; readonly key?: readonly KeySpec[] };

export function trustOptions(command: Command): Command {
  return command
    .option('--trust <file>', 'trust the keys of this trust store (repeatable)', texts)
    .option(
      '--key <spec>',
      'trust this public key or certificate: FILE,issuer=NAME[,keyId=ID] (repeatable)',
      many(keySpec),
    );
}

const FORM = 'FILE,issuer=NAME or FILE,issuer=NAME,keyId=ID';

export function keySpec(value: string): KeySpec {
  return fileSpec(value, ['issuer', 'keyId'], FORM);
}

export type EvidenceOptions = TrustOptions &
  PathList & {
    readonly expectManifest?: Digest;
    readonly expectExport?: string;
    readonly expectOrganization?: string;
    readonly expectProject?: string;
    readonly expectBundles?: number;
    readonly asOf?: number;
    readonly jobs: number;
    readonly secondOpinion?: boolean;
    readonly dsse?: readonly string[];
  };

export function evidenceOptions(command: Command): Command {
  return trustOptions(command)
    .option('--list <file>', 'also read paths from a file, one per line; - for standard input')
    .option('-0, --null', 'read a NUL-separated list, as "find -print0" writes it')
    .option(
      '--expect-manifest <digest>',
      'require this SHA-256 of manifest.json, which pins the list of bundles',
      digest,
    )
    .option('--expect-export <id>', 'require this id of the export')
    .option('--expect-organization <id>', 'require this organization')
    .option('--expect-project <id>', 'require this project for every bundle')
    .option('--expect-bundles <n>', 'require this number of bundles', wholeNumber(0, 10_000))
    .option('--as-of <time>', 'verify as of this time (default: now)', time)
    .addOption(jobsOption('verify this many parts at once'))
    .option('--second-opinion', 'verify everything with a second implementation too, and report differences')
    .option('--dsse <file>', 'also verify this DSSE envelope about the evidence (repeatable)', texts);
}

export type PathList = { readonly list?: string; readonly null?: boolean };
