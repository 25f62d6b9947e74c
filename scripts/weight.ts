/**
 * Prints the weight of each room: its characters that are not white space, so that formatting cannot change it. New features
 * are paid for with old lines. Usage: node scripts/weight.ts
 */
import { globSync, readFileSync } from 'node:fs';

function printWeight(folder: string): void {
  const texts = globSync(`${folder}/**/*.*`).map((path) => readFileSync(path, 'utf8').replaceAll(/\s/g, ''));
  const weight = texts.reduce((sum, { length }) => sum + length, 0);
  console.log(weight.toLocaleString('en-US').padStart(11), folder);
}

for (const room of globSync('src/*').toSorted()) if (!room.endsWith('.ts')) printWeight(room);
for (const folder of ['src', 'test']) printWeight(folder);
