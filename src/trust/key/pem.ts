import { fromBase64, toBase64 } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';

/** One block of RFC 7468: its label, and what stands between the two lines. */
export type PemBlock = { readonly label: string; readonly body: string };

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/;

/**
 * The blocks of a PEM file, in order. Only blank lines may stand around them: text there is allowed by RFC 7468 §2 and
 * refused here, so that everything in a key file is key.
 * @throws DrillproofError `trust.KEY_INVALID`
 */
export function parsePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const line of text.split(/[ \t]*\r?\n/)) {
    if (open === undefined) {
      const label = BEGIN.exec(line)?.[1];
      if (label !== undefined) open = { label, lines: [] };
      else if (line !== '') throw invalid('text outside the BEGIN and END lines');
    } else if (line === `-----END ${open.label}-----`) {
      blocks.push({ label: open.label, body: open.lines.join('\n') });
      open = undefined;
    } else if (line.startsWith('-----')) {
      throw invalid(`"BEGIN ${open.label}" is not followed by its END line`);
    } else {
      open.lines.push(line);
    }
  }
  if (open !== undefined) throw invalid(`"BEGIN ${open.label}" without its END line`);
  return blocks;
}

/**
 * The bytes of a block: base64 of RFC 4648 §4 with padding and zero spare bits.
 * @throws DrillproofError `trust.KEY_INVALID`
 */
export function pemBytes(block: PemBlock): Uint8Array {
  const bytes = fromBase64(block.body.replaceAll('\n', ''));
  if (bytes === undefined) throw invalid(`"${block.label}" holds no base64 whose spare bits are zero`);
  return bytes;
}

/** A PEM file of one block, in lines of 64 characters. */
export function formatPem(label: string, bytes: Uint8Array): string {
  const lines = toBase64(bytes).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

const invalid = (why: string): DrillproofError => new DrillproofError('trust.KEY_INVALID', `not PEM: ${why}`);
