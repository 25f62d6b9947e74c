import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { writeOutputFile, writeOutputFolder } from '../../../../src/cli/shared/output/output-file.ts';
import { type Chunks, writeNewFile } from '../../../../src/node/durable-file.ts';
import { scratch, world } from '../../make.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const fill = (folder: string) => writeNewFile(`${folder}/a`, [bytes('a')]);
async function* failing(): AsyncGenerator<Uint8Array> {
  yield bytes('half');
  throw new RangeError('the source broke');
}

describe('an output file', () => {
  it('gets its name only when it is complete', async () => {
    await using dir = await scratch();
    const seen: string[][] = [];
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield bytes('a');
      seen.push(await readdir(dir.root));
      yield bytes('b');
    }
    await writeOutputFile(world(), dir.path('out'), chunks());
    expect(seen[0]).toHaveLength(1);
    expect(seen[0]).not.toContain('out');
    expect(await readdir(dir.root)).toEqual(['out']);
    expect(await readFile(dir.path('out'), 'utf8')).toBe('ab');
  });

  it('is not written when its source fails, and the error of the source is rethrown', async () => {
    await using dir = await scratch();
    await expect(writeOutputFile(world(), dir.path('out'), failing())).rejects.toThrow(RangeError);
    expect(await readdir(dir.root)).toEqual([]);
  });

  it('is replaced only with force, and not when the source fails', async () => {
    await using dir = await scratch();
    await writeFile(dir.path('out'), 'old');
    const write = (chunks: Chunks, options?: { force: true }) =>
      writeOutputFile(world(), dir.path('out'), chunks, options);
    await expect(write([bytes('new')])).rejects.toMatchObject({ code: 'io.EXISTS' });
    await expect(write(failing(), { force: true })).rejects.toThrow(RangeError);
    expect(await readFile(dir.path('out'), 'utf8')).toBe('old');
    await write([bytes('new')], { force: true });
    expect(await readFile(dir.path('out'), 'utf8')).toBe('new');
  });

  it('does not replace a file that another program created meanwhile', async () => {
    await using dir = await scratch();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield bytes('mine');
      await writeFile(dir.path('out'), 'theirs');
    }
    const work = writeOutputFile(world(), dir.path('out'), slow());
    await expect(work).rejects.toMatchObject({ code: 'io.EXISTS' });
    expect(await readFile(dir.path('out'), 'utf8')).toBe('theirs');
    expect(await readdir(dir.root)).toEqual(['out']);
  });

  it('gets the mode of the options', async () => {
    await using dir = await scratch();
    await writeOutputFile(world(), dir.path('secret'), [bytes('x')], { mode: 0o600 });
    expect((await stat(dir.path('secret'))).mode & 0o777).toBe(0o600);
  });

  it('in a missing folder is io.NOT_FOUND, and below a file io.KIND', async () => {
    await using dir = await scratch();
    await writeFile(dir.path('file'), '');
    for (const [path, code] of [
      ['absent/out', 'io.NOT_FOUND'],
      ['file/out', 'io.KIND'],
    ] as const)
      await expect(writeOutputFile(world(), dir.path(path), [])).rejects.toMatchObject({ code });
  });
});

it('an output folder gets its name only when it is complete, and does not exist when filling it fails', async () => {
  await using dir = await scratch();
  await writeOutputFolder(dir.path('out'), async (folder) => {
    expect(await readdir(dir.root)).not.toContain('out');
    await fill(folder);
  });
  expect(await readdir(dir.path('out'))).toEqual(['a']);
  const broken = writeOutputFolder(dir.path('other'), (folder) => writeNewFile(`${folder}/a`, failing()));
  await expect(broken).rejects.toThrow(RangeError);
  expect(await readdir(dir.root)).toEqual(['out']);
});

it('an output folder may exist if it is empty', async () => {
  await using dir = await scratch();
  await mkdir(dir.path('empty'));
  await writeOutputFolder(dir.path('empty'), fill);
  await expect(writeOutputFolder(dir.path('empty'), fill)).rejects.toMatchObject({ code: 'io.EXISTS' });
  expect(await readdir(dir.path('empty'))).toEqual(['a']);
});
