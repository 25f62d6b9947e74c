import { defined } from '../../../bytes/index.ts';
import type { Command } from 'commander';
import { type Client, createClient } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { fetchFor } from './http-fetch.ts';
import { readToken } from '../options/token.ts';

/** The address of a control plane, and the token. */
export type RemoteOptions = {
  readonly url: string;
  readonly project: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
};

export function remoteOptions(command: Command): Command {
  return command
    .option('--url <url>', 'base address of the control plane, without /v1')
    .option('--project <id>', 'read through this project')
    .option('--token-file <file>', 'read the token from this file (default: DRILLPROOF_TOKEN)')
    .option('--ca-file <file>', 'also trust the certificate authorities in this PEM file');
}

export async function openRemote(cli: Cli, options: RemoteOptions): Promise<Client> {
  const fetch = await fetchFor(cli, options.caFile);
  return createClient({
    ...defined({ fetch }),
    baseUrl: options.url,
    token: await readToken(cli, options.tokenFile),
    userAgent: 'drillproof-cli',
    now: cli.now,
  });
}
