import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { cleanUp, newFolder } from '../../mirror/make.ts';
import { expectComplete, startMirror } from '../killing.ts';
import { testTwoMirrors } from './two-suite.ts';

afterEach(cleanUp);

testTwoMirrors('folder', async () => {
  const folder = await newFolder();
  return {
    start: (server, options) => startMirror(server, folder, options),
    readLock: () => readFile(join(folder, '.drillproof-mirror', 'lock'), 'utf8'),
    expectComplete: (sample) => expectComplete(sample, folder),
  };
});
