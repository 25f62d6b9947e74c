import { BAG_MANIFEST } from '../evidence/bag-tags.ts';
import { CHECKSUMS } from '../evidence/checksums.ts';
import type { MirrorReceipt } from '../mirror/index.ts';
import { isS3Url } from '../node/s3/location.ts';
import { count, counted, size } from '../report/figures.ts';
import { shellWord } from './signature-files.ts';
import { facts } from './table.ts';

const PROVEN = 'Every byte has the digest that the manifest says. Who signed it, verify says:';

/** What a mirror brought, for people, and the command lines that prove it once more. */
export function receiptText(
  receipt: MirrorReceipt,
  to: string,
  { bagit = false }: { readonly bagit?: boolean },
): string {
  const { files, evidenceExportId, manifestDigest, withoutLocalReports } = receipt;
  const bytes = files.reduce((sum, file) => sum + Number(file.bytes), 0);
  const states = (['fetched', 'resumed', 'linked', 'kept'] as const)
    .map((state) => [state, files.filter((file) => file.state === state).length] as const)
    .filter(([, times]) => times > 0)
    .map(([state, times]) => `${count(times)} ${state}`);
  const lines = facts([
    ['mirrored', evidenceExportId],
    [isS3Url(to) ? 'bucket' : 'folder', to],
    ['manifest', manifestDigest],
    ['files', `${counted(files.length, 'file')}, ${size(bytes)} (${states.join(', ')})`],
    ['local reports', withoutLocalReports ? 'left out, as asked' : undefined],
  ]);
  const word = shellWord(to);
  const checksums = bagit ? BAG_MANIFEST : CHECKSUMS;
  const alone = isS3Url(to) ? '' : `Without this tool:\n  (cd ${word} && sha256sum -c ${checksums})\n`;
  return `${lines}\n${PROVEN}\n  drillproof verify ${word} --trust trust.json --expect-manifest ${manifestDigest}\n${alone}`;
}
