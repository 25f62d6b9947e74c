import { describe, expect, it } from 'vitest';
import { memorySource } from '../../src/evidence/source.ts';
import { listMirrors } from '../../src/evidence/subtrees.ts';

const EMPTY = new Uint8Array();
const listFiles = async (...paths: readonly string[]): Promise<Record<string, string[]>> => {
  const mirrors = await listMirrors(memorySource(Object.fromEntries(paths.map((path) => [path, EMPTY]))));
  const files = mirrors.map(async ({ prefix, source }) => [
    prefix,
    (await source.files()).map(({ path }) => path),
  ]);
  return Object.fromEntries(await Promise.all(files)) as Record<string, string[]>;
};

describe('the mirrors in a tree', () => {
  it('include the tree itself if it is a mirror', async () => {
    expect(
      await listFiles('manifest.json', 'receipts/a.json', 'receipts/a.json.dsse', 'parts/x.zip'),
    ).toEqual({
      '': ['manifest.json', 'receipts/a.json'],
    });
  });

  it('are found at any depth, also in bags', async () => {
    expect(
      await listFiles(
        'one/receipts/a.json',
        'two/three/manifest.json',
        'bag/bagit.txt',
        'bag/data/receipts/b.json',
      ),
    ).toEqual({
      'bag/data/': ['receipts/b.json'],
      'one/': ['receipts/a.json'],
      'two/three/': ['manifest.json'],
    });
  });

  it('are found without a receipt or without a manifest, and never without both', async () => {
    expect(await listFiles('parts/x.zip', 'receipts/notes.txt', 'receipt/a.json', 'export.json')).toEqual({});
  });

  it('may be called receipts themselves', async () => {
    const deep = 'receipts/receipts/receipts/b.json';
    expect(await listFiles('receipts/receipts/a.json', 'receipts/manifest.json', deep)).toEqual({
      'receipts/': ['manifest.json', 'receipts/a.json'],
      'receipts/receipts/': ['receipts/b.json'],
    });
  });

  it('open the files that they list', async () => {
    const text = new TextEncoder().encode('text');
    const [mirror] = await listMirrors(memorySource({ 'deep/er/receipts/a.json': text }));
    const file = await mirror!.source.open('receipts/a.json');
    expect(await file.read(0, file.size)).toEqual(text);
  });
});
