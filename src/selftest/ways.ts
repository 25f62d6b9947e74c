import { memoryAccess, type RandomAccess } from '../bytes/index.ts';

export const bytesOfBase64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
export const bytesOfHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

/** Random access that is asked for one byte at a time, each in a promise of its own. */
function byteByByte(bytes: Uint8Array): RandomAccess {
  const source = memoryAccess(bytes);
  return {
    size: source.size,
    async read(offset, length) {
      const whole = new Uint8Array(length);
      for (let i = 0; i < length; i++) whole.set(await source.read(offset + i, 1), i);
      return whole;
    },
  };
}

/** Reads that may reach outside the bytes are a fault of ours, and a source is free to throw for them. */
function strict(bytes: Uint8Array): RandomAccess {
  const source = memoryAccess(bytes);
  return {
    size: source.size,
    read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > source.size)
        throw new RangeError('a read outside the bytes');
      return bytes.slice(offset, offset + length);
    },
  };
}

/** Every way in which bytes come to the readers. */
export const WAYS: readonly (readonly [name: string, open: (bytes: Uint8Array) => RandomAccess])[] = [
  ['memory', memoryAccess],
  ['strict', strict],
  ['one byte at a time', byteByByte],
];
