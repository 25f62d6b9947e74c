import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { writeOutputFile, writeOutputFolder } from '../../../../src/cli/shared/output/output-file.ts';
import { writeNewFile } from '../../../../src/node/durable-file.ts';
import { scratch, world } from '../../make.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const fill = (inside: string) => writeNewFile(`${inside}/a`, [bytes('a')]);
async function* failing(): AsyncGenerator<Uint8Array> {
  yield bytes('half');
  throw new RangeError('the source broke');
}

describe('an output file', () => {
  it('has its name only when it is whole', async () => {
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

  it('is not written when its source breaks, and the error of the source is rethrown', async () => {
    await using dir = await scratch();
    await expect(writeOutputFile(world(), dir.path('out'), failing())).rejects.toThrow(RangeError);
    expect(await readdir(dir.root)).toEqual([]);
  });

  it('stays as it is when it exists, unless force is given, and then also when the source breaks', async () => {
    await using dir = await scratch();
    await writeFile(dir.path('out'), 'old');
    await expect(writeOutputFile(world(), dir.path('out'), [bytes('new')])).rejects.toMatchObject({
      code: 'io.EXISTS',
    });
    await expect(writeOutputFile(world(), dir.path('out'), failing(), { force: true })).rejects.toThrow(
      RangeError,
    );
    expect(await readFile(dir.path('out'), 'utf8')).toBe('old');
    await writeOutputFile(world(), dir.path('out'), [bytes('new')], { force: true });
    expect(await readFile(dir.path('out'), 'utf8')).toBe('new');
  });

  it('is refused when it came into being while it was written', async () => {
    await using dir = await scratch();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield bytes('mine');
      await writeFile(dir.path('out'), 'theirs');
    }
    await expect(writeOutputFile(world(), dir.path('out'), slow())).rejects.toMatchObject({
      code: 'io.EXISTS',
    });
    expect(await readFile(dir.path('out'), 'utf8')).toBe('theirs');
    expect(await readdir(dir.root)).toEqual(['out']);
  });

  it('has the mode that it is given', async () => {
    await using dir = await scratch();
    await writeOutputFile(world(), dir.path('secret'), [bytes('x')], { mode: 0o600 });
    expect((await stat(dir.path('secret'))).mode & 0o777).toBe(0o600);
  });

  it('in a folder that is absent is io.NOT_FOUND, below a file io.KIND', async () => {
    await using dir = await scratch();
    await writeFile(dir.path('file'), '');
    await expect(writeOutputFile(world(), dir.path('absent/out'), [])).rejects.toMatchObject({
      code: 'io.NOT_FOUND',
    });
    await expect(writeOutputFile(world(), dir.path('file/out'), [])).rejects.toMatchObject({
      code: 'io.KIND',
    });
  });
});

it('an output folder has its name only when it is whole, and nothing is left when filling it fails', async () => {
  await using dir = await scratch();
  await writeOutputFolder(dir.path('out'), async (inside) => {
    expect(await readdir(dir.root)).not.toContain('out');
    await writeNewFile(`${inside}/a`, [bytes('a')]);
  });
  expect(await readdir(dir.path('out'))).toEqual(['a']);
  const broken = writeOutputFolder(dir.path('other'), (inside) => writeNewFile(`${inside}/a`, failing()));
  await expect(broken).rejects.toThrow(RangeError);
  expect(await readdir(dir.root)).toEqual(['out']);
});

it('an output folder may exist if it is empty', async () => {
  await using dir = await scratch();
  const { mkdir } = await import('node:fs/promises');
  await mkdir(dir.path('empty'));
  await writeOutputFolder(dir.path('empty'), fill);
  await expect(writeOutputFolder(dir.path('empty'), fill)).rejects.toMatchObject({ code: 'io.EXISTS' });
  expect(await readdir(dir.path('empty'))).toEqual(['a']);
});
