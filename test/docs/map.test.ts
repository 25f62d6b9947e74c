import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import config from '../../oxlint.config.ts';

const [, map = ''] = readFileSync('docs/architecture.md', 'utf8').split('\n## ');
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

describe('the map in docs/architecture.md', () => {
  it('the map in docs/architecture.md has every folder of src and no other', () => {
    const mapped = rows.flatMap(({ room, folders }) => [room, ...folders]);
    expect(mapped.toSorted()).toEqual(listFolders('').toSorted());
  });

  it('the map in docs/architecture.md has the rooms in the order of the lint rule', () => {
    const files = (config.overrides ?? []).flatMap((override) => override.files);
    const ruled = files.flatMap((glob) => /^src\/([a-z]+)\/\*$/.exec(glob)?.[1] ?? []);
    expect(rooms).toEqual(ruled);
  });

  it('CONTRIBUTING.md lists the rooms in the order of the map', () => {
    expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`\n    ${rooms.join('  ')}\n`);
  });
});

describe('the folders of src', () => {
  it('every folder of src has at most 15 files', () => {
    const crowded = listFolders('').filter((folder) => {
      const entries = readdirSync(`src/${folder}`, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).length > 15;
    });
    expect(crowded).toEqual([]);
  });
});
