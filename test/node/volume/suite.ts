import { describe, expect, it } from 'vitest';
import { fromUtf8, toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { readFile } from '../../../src/evidence/source.ts';
import { mirrorVolume } from '../../../src/node/volume/mirror.ts';
import { openExport, type Volume } from '../../../src/node/volume/volume.ts';
import { makeExportWithId } from '../scrub/make.ts';

/** A new place for a volume, and a way to put files into it. */
export type Place = {
  readonly open: () => Promise<Volume>;
  readonly put: (files: Readonly<Record<string, string | Uint8Array>>) => Promise<void>;
};

const makeSink = (volume: Volume) =>
  mirrorVolume(async () => ({ ...volume, close: () => Promise.resolve() }));
const textOf = (bytes: Uint8Array | undefined) => bytes && fromUtf8(bytes);

/** Tests the properties of every kind of volume that mirror, scrub and the readers of evidence need. */
export function testVolume(kind: string, makePlace: () => Promise<Place>): void {
  const openWith = async (files: Readonly<Record<string, string | Uint8Array>> = {}) => {
    const place = await makePlace();
    await place.put(files);
    return { volume: await place.open(), place };
  };

  describe(`a volume of the kind ${kind}`, () => {
    it('lists the folders and files directly below it, sorted', async () => {
      const { volume } = await openWith({ 'b/x/y': '1', 'a/x': '2', 'z.txt': '3', 'é.txt': '4' });
      expect(await volume.list()).toEqual({ folders: ['a', 'b'], files: ['z.txt', 'é.txt'] });
      expect(await volume.child('b').list()).toEqual({ folders: ['x'], files: [] });
    });

    it('opens every file below it at any offset, and no other', async () => {
      const { volume } = await openWith({ 'a/deep/file': 'content' });
      const source = volume.source();
      expect((await source.files()).map(({ path, bytes }) => [path, bytes])).toEqual([['a/deep/file', 7]]);
      const file = await source.open('a/deep/file');
      expect(textOf(await file.read(3, 4))).toBe('tent');
      await file.close();
      await expect(source.open('a/deep')).rejects.toMatchObject({ code: expect.stringMatching(/^io\./) });
      await expect(source.open('absent')).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
    });

    it('opens an export, also in data/ of a BagIt bag', async () => {
      const { files } = await makeExportWithId(1);
      const plain = await openWith(files);
      const bag = await openWith({
        'bagit.txt': 'BagIt-Version: 1.0\n',
        ...Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`data/${path}`, bytes])),
      });
      for (const { volume } of [plain, bag]) {
        const { source } = await openExport(volume);
        expect(await readFile(source, 'manifest.json', 1_000_000)).toEqual(
          Uint8Array.from(files['manifest.json']!),
        );
      }
      expect((await openExport(bag.volume)).source.bag).toBeDefined();
      expect((await openExport(plain.volume)).source.bag).toBeUndefined();
    });

    it('shows the files of a mirror to the next reader', async () => {
      const { volume, place } = await openWith();
      const target = await makeSink(volume).open();
      await target.write('receipts/a.json', toUtf8('{}'));
      await target.close();
      const reopened = await place.open();
      expect(textOf(await readFile(reopened.source(), 'receipts/a.json', 10))).toBe('{}');
    });

    it('refuses to write paths that could lead out of it', async () => {
      const { volume } = await openWith();
      const target = await makeSink(volume).open();
      for (const path of ['../outside', '/etc/passwd', 'a/../../b', 'a\\b', 'C:x', '', '.', 'a//b', 'con']) {
        await expect(target.write(path, toUtf8('x'))).rejects.toMatchObject({ code: 'io.KIND' });
        await expect(target.partial(path)).rejects.toMatchObject({ code: 'io.KIND' });
      }
      await target.close();
    });

    it('is locked by one mirror at a time, also among several that open it together', async () => {
      const { volume } = await openWith();
      const target = await makeSink(volume).open();
      await expect(makeSink(volume).open()).rejects.toMatchObject({ code: 'io.LOCKED' });
      await target.close();
      const opening = await Promise.allSettled([1, 2, 3].map(() => makeSink(volume).open()));
      const targets = opening.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(targets).toHaveLength(1);
      await targets[0]!.close();
    });

    it('splits into its parent and its name', async () => {
      const { volume } = await openWith({ 'child/file': '1' });
      const { parent, name } = volume.child('child').split();
      expect(name).toBe('child');
      expect(await parent.child(name).list()).toEqual({ folders: [], files: ['file'] });
      expect((await parent.list()).folders).toEqual(['child']);
    });
  });

  describe(`a log in a volume of the kind ${kind}`, () => {
    it('does not exist before the first line, then has every line in order', async () => {
      const { volume } = await openWith();
      const log = volume.log('.drillproof/scrub/one.jsonl');
      expect(await log.read()).toBeUndefined();
      for (const line of ['a\n', 'b\n']) await log.update((old) => Buffer.concat([old, toUtf8(line)]));
      expect(textOf(await log.read())).toBe('a\nb\n');
    });

    it('loses no line of processes that append at the same time', async () => {
      const { volume } = await openWith();
      const lines = ['a\n', 'b\n', 'c\n'];
      await Promise.all(
        lines.map((line) => volume.log('log').update((old) => Buffer.concat([old, toUtf8(line)]))),
      );
      const text = textOf(await volume.log('log').read());
      expect(text?.split('\n').toSorted()).toEqual(['', 'a', 'b', 'c']);
    });

    it('is replaced as a whole, and leaves no other file', async () => {
      const { volume } = await openWith();
      const log = volume.log('log');
      await log.update(() => toUtf8('worn\n'));
      await log.update(() => toUtf8('new\n'));
      expect(textOf(await log.read())).toBe('new\n');
      expect(await volume.list()).toEqual({ folders: [], files: ['log'] });
    });
  });
}
