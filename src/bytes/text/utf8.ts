import { DrillproofError } from '../../errors.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-8 bytes. @throws DrillproofError `encoding.UTF8_INVALID` for a lone surrogate, which has none. */
export function toUtf8(text: string): Uint8Array {
  if (!text.isWellFormed())
    throw new DrillproofError('encoding.UTF8_INVALID', 'the text holds a lone surrogate');
  return encoder.encode(text);
}

/** Text of well-formed UTF-8; a byte order mark stays in it. @throws DrillproofError `encoding.UTF8_INVALID` */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new DrillproofError('encoding.UTF8_INVALID', 'not well-formed UTF-8', { cause });
  }
}

/**
 * Order by UTF-8 bytes, which is the order of code points. UTF-16 code units have the same order, except that a
 * surrogate, half of a code point above all others, is below U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

const codePointRank = (unit: number): number =>
  unit >= 0xd8_00 && unit <= 0xdf_ff ? unit + 0x1_00_00 : unit;
