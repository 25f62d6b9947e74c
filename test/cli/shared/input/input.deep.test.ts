import { truncate, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readEnvelopes } from '../../../../src/cli/shared/input/input.ts';
import { scratch, world } from '../../make.ts';

const PIECE_BYTES = 16 * 2 ** 20;

it('envelopes of 256 MiB together are read, and one byte more is a wrong call', async () => {
  await using dir = await scratch();
  const [piece, byte] = [dir.path('piece'), dir.path('byte')];
  await writeFile(piece, '');
  await truncate(piece, PIECE_BYTES);
  await writeFile(byte, 'x');
  const pieces = Array.from({ length: 16 }, () => piece);
  expect(await readEnvelopes(world(), pieces)).toHaveLength(16);
  await expect(readEnvelopes(world(), [...pieces, byte])).rejects.toMatchObject({ code: 'usage.INVALID' });
  await truncate(piece, PIECE_BYTES + 1);
  await expect(readEnvelopes(world(), [piece])).rejects.toMatchObject({ code: 'json.TOO_LARGE' });
});
