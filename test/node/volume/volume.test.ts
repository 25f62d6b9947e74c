import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openVolume } from '../../../src/node/open-volume.ts';
import { cleanUp, newFolder } from '../scrub/make.ts';
import { testVolume } from './suite.ts';
import { writeFiles } from '../../support/folder.ts';

afterEach(cleanUp);

testVolume('folder', async () => {
  const root = await newFolder();
  return {
    open: () => openVolume(root),
    put: (files) => writeFiles(root, files),
  };
});

it('a folder volume follows no symbolic link to another folder', async () => {
  const [root, outside] = [await newFolder(), await newFolder()];
  await writeFile(join(outside, 'secret'), 'x');
  await symlink(outside, join(root, 'link'));
  const volume = await openVolume(root);
  expect(await volume.list()).toEqual({ folders: [], files: ['link'] });
  await expect(volume.source().open('link/secret')).rejects.toMatchObject({ code: 'io.KIND' });
});

it('a folder volume that does not exist cannot be listed', async () => {
  const volume = await openVolume(join(await newFolder(), 'absent'));
  await expect(volume.list()).rejects.toMatchObject({ code: 'io.NOT_FOUND' });
});
