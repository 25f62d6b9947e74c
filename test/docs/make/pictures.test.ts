import { globSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder, makeTestFolder } from '../../support/folder.ts';
import { digestInput, makePictures } from '../../../docs/make/pictures/inputs.ts';

const pictures = await makePictures(await makeFolder());
const made = JSON.parse(readFileSync('docs/images/pictures.json', 'utf8')) as Record<string, string>;

it('there is a digest for every picture', () => {
  expect(Object.keys(made)).toEqual(Object.keys(pictures));
});

it.each(Object.entries(pictures))(
  'the picture %s shows the product as it is; otherwise run npm run pictures',
  (name, picture) => {
    expect(digestInput(picture)).toBe(made[name]);
  },
);

it('the inputs of the pictures are the same in every run', async () => {
  expect(await makePictures(await makeTestFolder())).toEqual(pictures);
});

it('every picture is small, and a page shows it', () => {
  const text = ['README.md', ...globSync('docs/**/*.md')].map((page) => readFileSync(page, 'utf8')).join('');
  for (const path of globSync('docs/images/*.{jpg,png,svg,webp}')) {
    expect(text).toContain(`images/${basename(path)})`);
    expect([path, statSync(path).size < 130_000]).toEqual([path, true]);
  }
  for (const name of Object.keys(made)) expect(text).toContain(`images/${name}.webp)`);
});
