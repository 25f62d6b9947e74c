import type { Command } from 'commander';
import { createClient, type Client } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { fetchFor } from './http-fetch.ts';
import { readToken } from '../options/token.ts';

/** Where a control plane is and who asks. */
export type RemoteOptions = {
  readonly url: string;
  readonly project: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
};

export function remoteOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the control plane, up to and without /v1')
    .option('--project <id>', 'project through which to read')
    .option('--token-file <file>', 'file that holds the token; without it DRILLPROOF_TOKEN is read')
    .option('--ca-file <file>', 'certificate authorities (PEM) to trust beside those of the platform');
}

export async function openRemote(cli: Cli, options: RemoteOptions): Promise<Client> {
  const fetch = await fetchFor(cli, options.caFile);
  return createClient({
    ...(fetch !== undefined && { fetch }),
    baseUrl: options.url,
    token: await readToken(cli, options.tokenFile),
    userAgent: 'drillproof-cli',
    now: cli.now,
  });
}
