/** Prints the weight of each room: its characters that are not white space, so that formatting cannot change it. */
import { globSync, readFileSync } from 'node:fs';

const rooms = globSync('src/*').filter((path) => !path.endsWith('.ts'));
for (const folder of [...rooms.toSorted(), 'src', 'test']) {
  const texts = globSync(`${folder}/**/*.*`).map((path) => readFileSync(path, 'utf8').replaceAll(/\s/g, ''));
  const weight = texts.reduce((sum, { length }) => sum + length, 0);
  console.log(weight.toLocaleString('en-US').padStart(11), folder);
}
