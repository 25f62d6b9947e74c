import { PURPOSES } from '../../src/trust/trusted-key.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { codeEntry } from '../../src/codes/catalogue.ts';
import { DEFAULT_LIMITS } from '../../src/evidence/document.ts';
import { zipLimits } from '../../src/zip/limits.ts';
import { parseAttestation, encodeStatement } from '../../src/evidence/bundle/attestation.ts';
import { parseBundleManifest } from '../../src/evidence/bundle/manifest.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { COUNTS } from '../vectors/counts.ts';

const page = readFileSync('docs/formats/formats.md', 'utf8');

/** The named blocks of the page, such as "```json manifest.json". */
const files = new Map(
  Array.from(page.matchAll(/^```\S+ (\S+)\n([\s\S]*?)\n```$/gm), ([, name = '', text = '']) => [name, text]),
);
const block = (name: string): Buffer => Buffer.from(files.get(name) ?? '');

const { statement } = parseAttestation(block('attestation.json'));

it('the examples of docs/formats/formats.md are valid documents that refer to each other', () => {
  const manifest = parseBundleManifest(block('manifest.json'));
  expect(statement.subject.manifestDigest).toBe(digestOf(block('manifest.json')));
  expect(statement.subject.runId).toBe(manifest.runId);
  expect(page).toContain(digestOf(block('selection.json')));
});

const folder = await makeFolder();
await writeFiles(folder, {
  'attestation.json': block('attestation.json'),
  'key.pem': `${block('key.pem').toString()}\n`,
});

it('docs/formats/formats.md and the glossary list every purpose of keys', () => {
  const rows = [
    /^\| `purposes` .*?;/m.exec(page)?.[0],
    /^\| purpose .*/m.exec(readFileSync('docs/glossary.md', 'utf8'))?.[0],
  ];
  for (const row of rows) {
    const words = Array.from((row ?? '').matchAll(/`(\w+)`/g), ([, word]) => word);
    expect(words.filter((word) => word !== 'purposes')).toEqual(PURPOSES);
  }
});

it('docs/formats/implement.md has each kind of vectors in exactly one level of conformance', () => {
  const levels = readFileSync('docs/formats/implement.md', 'utf8').split('\n## ')[1] ?? '';
  const lists = Array.from(levels.matchAll(/^\|.*\|([^|]*)\|$/gm), ([, kinds = '']) => kinds);
  const kinds = lists.flatMap((list) => Array.from(list.matchAll(/`([a-z0-9-]+)`/g), ([, kind]) => kind));
  expect(new Set(kinds)).toEqual(new Set(Object.keys(COUNTS)));
});

it('the shell commands of docs/formats/formats.md verify its examples without drillproof', () => {
  const commands = block('check.sh').toString();
  const output = execFileSync('sh', ['-e', '-c', commands], { cwd: folder, encoding: 'utf8' });
  expect(output).toBe(`Verified OK\n${statement.keyId.slice('sha256:'.length)}  -\n`);
  expect(readFileSync(join(folder, 'statement.json')).equals(encodeStatement(statement))).toBe(true);
});

describe('the limits of docs/formats/formats.md', () => {
  const MIB = 2 ** 20;
  it.each([
    ['bundle manifest', `${DEFAULT_LIMITS.manifestBytes / MIB} MiB each`, 'json.TOO_LARGE'],
    ['run result', `${DEFAULT_LIMITS.runResultBytes / MIB} MiB each`, 'json.TOO_LARGE'],
    ['attestation', `${DEFAULT_LIMITS.documentBytes / MIB} MiB each`, 'json.TOO_LARGE'],
    ['objects of a bundle', DEFAULT_LIMITS.objects.toLocaleString('en'), 'bundle.OBJECTS_EXCEEDED'],
    ['parts of an export', DEFAULT_LIMITS.parts.toLocaleString('en'), 'export.PARTS_EXCEEDED'],
    ['files in an export', DEFAULT_LIMITS.files.toLocaleString('en'), 'export.FILES_EXCEEDED'],
    ['entries of a ZIP', zipLimits.entries.toLocaleString('en'), 'zip.ENTRIES_EXCEEDED'],
    ['central directory', `${zipLimits.directoryBytes / MIB} MiB`, 'zip.SIZE_EXCEEDED'],
    ['an entry of a ZIP', `${zipLimits.entryBytes / 1024 / MIB} GiB`, 'zip.SIZE_EXCEEDED'],
    [
      `past ${zipLimits.expansionFloorBytes / MIB} MiB`,
      zipLimits.expansionRatio.toLocaleString('en'),
      'zip.RATIO_EXCEEDED',
    ],
  ] as const)('docs/formats/formats.md states the limit of "%s" as %s', (what, limit, code) => {
    const row = page
      .split('\n')
      .find((line) => line.startsWith('|') && line.includes(what) && line.includes(code));
    expect(row?.split('|')[2]?.trim()).toBe(limit);
    expect(codeEntry(code).class).toBe('limit');
  });
});
