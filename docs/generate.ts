import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedFiles } from './files.ts';

const here = import.meta.dirname;
await mkdir(join(here, 'schemas'), { recursive: true });
for (const [path, text] of generatedFiles()) await writeFile(join(here, path), text);
