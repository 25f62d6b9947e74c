import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import config from '../../oxlint.config.ts';

const [, map = ''] = readFileSync('docs/contribute/architecture.md', 'utf8').split('\n## ');
const rows = Array.from(
  map.matchAll(/^\| `([a-z]+)` +\| [^|]+ \| (.*) \|$/gm),
  ([, room = '', folders = '']) => ({
    room,
    folders: Array.from(folders.matchAll(/`([^`]+)`/g), ([, name = '']) => `${room}/${name}`),
  }),
);
const rooms = rows.map(({ room }) => room);

function listFolders(path: string): string[] {
  return readdirSync(`src/${path}`, { withFileTypes: true }).flatMap((entry) => {
    const folder = path === '' ? entry.name : `${path}/${entry.name}`;
    return entry.isDirectory() ? [folder, ...listFolders(folder)] : [];
  });
}

it('the map in docs/contribute/architecture.md has every folder of src and no other', () => {
  const mapped = rows.flatMap(({ room, folders }) => [room, ...folders]);
  expect(mapped.toSorted()).toEqual(listFolders('').toSorted());
});

it('the map in docs/contribute/architecture.md has the rooms in the order of the lint rule', () => {
  const files = (config.overrides ?? []).flatMap((override) => override.files);
  const ruled = files.flatMap((glob) => /^src\/([a-z]+)\/\*$/.exec(glob)?.[1] ?? []);
  expect(rooms).toEqual(ruled);
});

it('CONTRIBUTING.md lists the rooms in the order of the map', () => {
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`\n    ${rooms.join('  ')}\n`);
});

it.each(['src', 'test', 'bench', 'docs'])('each folder of %s contains at most 15 files', (root) => {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isFile()).map(({ parentPath }) => parentPath);
  const large = [...new Set(folders)].filter((path) => folders.filter((other) => other === path).length > 15);
  expect(large).toEqual(root === 'docs' ? ['docs/schemas', 'docs/gate/policies'] : []); // the schemas are generated, and looked up by name
});
