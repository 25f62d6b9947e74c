import { cp, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { expectPass, scratch } from '../make.ts';

const OLD = fileURLToPath(new URL('../../old/', import.meta.url));
const ID = 'evexp_000000000008';
const pass = (line: string) => expectPass(line, { now: () => Date.UTC(2027, 0, 1) });

it('an archive of each earlier schema is there', async () => {
  expect((await readdir(OLD)).toSorted()).toEqual([
    'README.md',
    'bag',
    'freeze.ts',
    'receipts-1',
    'receipts-2',
    'schemas',
    'trust.json',
  ]);
});

it.each(['receipts-1', 'receipts-2', 'bag'])(
  'an archive of an earlier schema can be verified, scrubbed and copied: %s',
  async (name) => {
    await using dir = await scratch();
    const [old, trust] = [`${dir.root}/${name}`, `${OLD}/trust.json`];
    await cp(`${OLD}/${name}`, old, { recursive: true });
    const archive = name === 'bag' ? `${old}/${ID}` : old;
    await pass(`verify ${old}/${ID} --trust ${trust} --require-list`);
    await pass(`receipts verify ${archive}`);
    const scrub = JSON.parse(await pass(`scrub ${archive} --trust ${trust} --json`));
    expect(scrub).toMatchObject({ outcome: 'good' });
    await pass(`mirror --from ${old}/${ID} --to ${dir.root}/copy`);
    await pass(`verify ${dir.root}/copy --trust ${trust} --require-list`);
  },
);
