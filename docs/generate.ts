import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeClassesModule } from './make/code-classes.ts';

const here = import.meta.dirname;
await mkdir(join(here, 'schemas'), { recursive: true });
// The other files are made with the classes of all codes, so a new code needs its class first.
await writeFile(join(here, '../src/codes/classes.ts'), codeClassesModule());
const { generatedFiles } = await import('./files.ts');
for (const [path, text] of generatedFiles()) await writeFile(join(here, path), text);
