/** Overwrites a file in place with two others in turn, as fast as possible: `node writing-child.ts A B TARGET`. */
import { openSync, readFileSync, writeSync } from 'node:fs';

const [a = '', b = '', target = ''] = process.argv.slice(2);
const contents = [readFileSync(a), readFileSync(b)];
const fd = openSync(target, 'r+');
process.stdout.write('writing\n');
for (let turn = 0; ; turn = 1 - turn) writeSync(fd, contents[turn]!, 0, contents[turn]!.length, 0);
