import { DrillproofError } from '../errors.ts';

const encoder = new TextEncoder();

/** UTF-8 bytes. @throws DrillproofError `encoding.UTF8_INVALID` for a lone surrogate, which has none. */
export function toUtf8(text: string): Uint8Array {
  if (!text.isWellFormed())
    throw new DrillproofError('encoding.UTF8_INVALID', 'the text holds a lone surrogate');
  return encoder.encode(text);
}

/** Text of well-formed UTF-8; a byte order mark stays in it. @throws DrillproofError `encoding.UTF8_INVALID` */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new DrillproofError('encoding.UTF8_INVALID', 'not well-formed UTF-8', { cause });
  }
}

/** Order by UTF-8 bytes, which is the order of code points. */
export function compareUtf8(a: string, b: string): number {
  const left = encoder.encode(a);
  const right = encoder.encode(b);
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const difference = left[i]! - right[i]!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
