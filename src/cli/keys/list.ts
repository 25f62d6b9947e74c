import type { Command } from 'commander';
import { isoTime } from '../../bytes/index.ts';
import { type TrustedKey, type TrustStore, trustStoreJwks } from '../../trust/index.ts';
import type { Cli } from '../cli.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { facts } from '../shared/output/table.ts';
import { readTrustFile } from '../shared/options/trusting.ts';

export function defineList(command: Command, cli: Cli): void {
  standardOptions(command)
    .description('Show the keys of a trust store and what each is valid for.')
    .argument('<trust>', 'trust store; - for standard input')
    .action(async (path: string) => {
      const store = await readTrustFile(cli, path);
      await writeProduct(
        cli,
        { kind: 'trust-store', fingerprint: store.fingerprint, ...trustStoreJwks(store) },
        listText(store),
      );
    });
  examples(command, [
    ['show whom you trust', 'drillproof keys list trust.json'],
    ['for programs', 'drillproof keys list trust.json --json'],
  ]);
}

function listText(store: TrustStore): string {
  const blocks = store.keys.map((key) =>
    facts([
      ['issuer', key.issuer],
      ['key', key.keyId],
      ['valid for', key.purposes.join(', ')],
      ['period', validity(key)],
      ['only for', scope(key)],
    ]),
  );
  return [...blocks, facts([['fingerprint', store.fingerprint]])].join('\n');
}

function validity({
  notBeforeMs,
  notAfterMs,
  revokedAtMs,
  compromised,
  fromCertificate,
}: TrustedKey): string {
  const words = [
    ...(notBeforeMs === undefined ? [] : [`from ${day(notBeforeMs)}`]),
    ...(notAfterMs === undefined ? [] : [`to ${day(notAfterMs)}`]),
  ];
  if (revokedAtMs !== undefined)
    words.push(`revoked ${day(revokedAtMs)}${compromised ? '' : ', earlier signatures stay valid'}`);
  if (words.length === 0) words.push('always');
  return `${words.join(' ')}${fromCertificate === true ? ' (certificate)' : ''}`;
}

const day = (atMs: number): string => isoTime(atMs).replace('T00:00:00.000Z', '');
const scope = ({ projects = [], organizations = [] }: TrustedKey): string | undefined =>
  projects.length + organizations.length === 0 ? undefined : [...organizations, ...projects].join(', ');
