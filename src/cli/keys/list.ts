import type { Command } from 'commander';
import { isoTime } from '../../bytes/text/iso-time.ts';
import { shortId } from '../../report/text/figures.ts';
import { trustStoreJwks, type TrustedKey, type TrustStore } from '../../trust/index.ts';
import type { Cli } from '../cli.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { writeProduct } from '../shared/output/product.ts';
import { table } from '../shared/output/table.ts';
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
    ['with whole key ids, for programs', 'drillproof keys list trust.json --json'],
  ]);
}

function listText(store: TrustStore): string {
  const rows = store.keys.map((key) => [
    key.issuer,
    shortId(key.keyId),
    key.purposes.join(','),
    validity(key),
    scope(key),
  ]);
  return `${table(['ISSUER', 'KEY', 'VALID FOR', 'PERIOD', 'ONLY FOR'], rows)}\nfingerprint ${store.fingerprint}\n`;
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
    words.push(`revoked ${day(revokedAtMs)}${compromised ? '' : ', earlier stands'}`);
  if (words.length === 0) words.push('always');
  return `${words.join(' ')}${fromCertificate === true ? ' (certificate)' : ''}`;
}

const day = (atMs: number): string => isoTime(atMs).replace('T00:00:00.000Z', '');
const scope = ({ projects = [], organizations = [] }: TrustedKey): string =>
  [...organizations, ...projects].join(',');
