import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { canonicalBytes } from '../../../src/bytes/json/canonical.ts';
import { digestOf } from '../../../src/bytes/hash.ts';
import type { ExportManifest } from '../../../src/evidence/export/manifest.ts';
import { trustStoreJwks } from '../../../src/trust/store.ts';
import {
  editJson,
  flipBit,
  forge,
  type Json,
  makeExport,
  makeReport,
  makeSigner,
  makeTrust,
  NOW,
  repack,
} from '../../support/evidence.ts';
import { makeTestFolder, writeFiles } from '../../support/folder.ts';

const [, script = ''] =
  /^```sh check\.sh\n([\s\S]*?)^```$/m.exec(readFileSync('docs/verify/verify.md', 'utf8')) ?? [];
const { files, signer } = await makeExport();
const PART = 'parts/evidence_000000000001.zip';
const LIST = 'export-attestation.json';

type Files = Record<string, Uint8Array>;

/** What the script prints about these files, and its exit code. */
async function check(tree: Files, trust: unknown = trustStoreJwks(makeTrust(signer)), link?: string) {
  const folder = await makeTestFolder();
  await writeFiles(folder, { 'check.sh': script, 'trust.json': JSON.stringify(trust) });
  mkdirSync(join(folder, 'export'));
  await writeFiles(join(folder, 'export'), tree);
  if (link !== undefined) symlinkSync('/dev/null', join(folder, 'export', link));
  const env = { PATH: process.env['PATH'], AS_OF_MS: String(NOW) };
  const { status, stdout } = spawnSync('sh', ['check.sh', 'export', 'trust.json'], { cwd: folder, env });
  return `${status} ${String(stdout).trim()}`;
}

/** Signs the list again after an edit of the manifest, as only the owner of the key can. */
async function resign(tree: Files, edit: (manifest: ExportManifest) => void, by = signer): Promise<Files> {
  const manifest = editJson<ExportManifest>(tree['manifest.json'], edit);
  const attestation = await forge(tree[LIST], by, (statement) => {
    statement.subject.manifestDigest = digestOf(manifest);
  });
  return { ...tree, 'manifest.json': manifest, [LIST]: attestation };
}

/** Replaces a part, with a list that names the new one. */
async function replace(edit: (entries: Map<string, Uint8Array>) => void | Promise<void>): Promise<Files> {
  const bytes = await repack(files[PART]!, edit);
  return resign({ ...files, [PART]: bytes }, ({ parts: [row] }) => {
    Object.assign(row ?? {}, { bytes: String(bytes.length), digest: digestOf(bytes) });
  });
}

it('the script of docs/verify/verify.md runs no drillproof and accepts a good export', async () => {
  expect(script).not.toMatch(/\bdrillproof \w|\bnode\b/);
  const mirrored = { ...files, SHA256SUMS: files[PART]!, 'receipts/a.json': files[PART]! };
  expect(await check(mirrored)).toBe('0 OK: 2 parts, signed by https://drills.example');
});

const { bytes: report } = makeReport(1);
const other = makeSigner();
const without = (path: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([name]) => name !== path));

it.each<[string, () => Files | Promise<Files>, string]>([
  ['a changed byte', () => ({ ...files, [PART]: flipBit(files[PART]!, 100) }), 'the digest of'],
  ['a shorter part', () => ({ ...files, [PART]: files[PART]!.subarray(1) }), 'the size of'],
  ['a missing part', () => without(PART), `${PART} is missing`],
  [
    'a missing local report',
    () => without('local-reports/lrep_000000000001.zip'),
    'lrep_000000000001.zip is missing',
  ],
  ['an extra part', () => ({ ...files, 'parts/x.zip': files[PART]! }), 'files that nothing lists'],
  ['an extra empty file', () => ({ ...files, '.hidden': report.subarray(0, 0) }), 'files that nothing lists'],
  ['an extra file', () => ({ ...files, notes: report }), 'files that nothing lists'],
  ['a list without attestation', () => without(LIST), 'no attestation of the list'],
  [
    'an unsigned change of the list',
    () => ({
      ...files,
      'manifest.json': editJson(files['manifest.json'], ({ parts }) => void (parts as Json[]).pop()),
    }),
    'names another manifest',
  ],
  ['a list that another key signed', () => resign(files, () => {}, other), 'no key is trusted'],
  [
    'a changed statement',
    () => ({
      ...files,
      [LIST]: editJson(files[LIST], ({ statement }) => void ((statement as Json)['issuedAtMs'] = NOW - 1)),
    }),
    'the signature of the list',
  ],
  [
    'an attestation about another kind',
    async () => ({
      ...files,
      [LIST]: await forge(
        files[LIST],
        signer,
        (statement) => void (statement.predicateType = 'urn:drillproof:attestation:evidence:v1'),
      ),
    }),
    'names another manifest',
  ],
  [
    'a list from the future',
    async () => ({
      ...files,
      [LIST]: await forge(files[LIST], signer, (statement) => void (statement.issuedAtMs = NOW + 1)),
    }),
    'was valid when it signed',
  ],
  [
    'a manifest that is not canonical',
    () => ({ ...files, 'manifest.json': Buffer.concat([files['manifest.json']!, Buffer.from('\n')]) }),
    'not canonical',
  ],
  [
    'the list of another export',
    () => resign(files, (manifest) => void (manifest.evidenceExportId = 'evexp_000000000002')),
    'the export id',
  ],
  [
    'a part with another object',
    () => replace((entries) => void entries.set('objects/state.json', report)),
    'objects/state.json',
  ],
  [
    'a part with an extra entry',
    () => replace((entries) => void entries.set('objects/extra', report)),
    'other entries',
  ],
  [
    'a part without attestation',
    () => replace((entries) => void entries.delete('attestation.json')),
    'no attestation of',
  ],
  [
    'a part that another key signed',
    () =>
      replace(
        async (entries) =>
          void entries.set('attestation.json', await forge(entries.get('attestation.json'), other)),
      ),
    'no key is trusted',
  ],
  [
    'a part with the statement of another bundle',
    () =>
      replace(
        async (entries) =>
          void entries.set(
            'attestation.json',
            await forge(
              entries.get('attestation.json'),
              signer,
              ({ subject }) => void (subject.manifestDigest = digestOf(report)),
            ),
          ),
      ),
    'names another manifest',
  ],
  [
    'a part whose statement names another state',
    () =>
      replace(
        async (entries) =>
          void entries.set(
            'attestation.json',
            await forge(
              entries.get('attestation.json'),
              signer,
              ({ subject }) => void (subject.stateHash = digestOf(report)),
            ),
          ),
      ),
    'the objects that the statement',
  ],
  [
    'a part with another manifest',
    () => replace((entries) => void entries.set('manifest.json', canonicalBytes({}))),
    'the manifest of',
  ],
])('the script refuses %s', async (_, change, text) => {
  expect(await check(await change())).toMatch(new RegExp(`^1 FAILED: .*${text}`));
});

it('the script refuses a link in place of a part', async () => {
  expect(await check(without(PART), undefined, PART)).toBe(`1 FAILED: ${PART} is missing`);
});

it.each([
  ['expired before it signed', { notAfterMs: NOW - 60_000 }],
  ['not yet valid when it signed', { notBeforeMs: NOW - 10_000 }],
  ['revoked', { revokedAtMs: NOW + 1, compromised: false }],
  ['trusted for another issuer', { issuer: 'other' }],
  ['trusted for evidence only', { purposes: ['evidence'] as const }],
  ['trusted for lists only', { purposes: ['export'] as const }],
  ['trusted for one project', { projects: ['prj_000000000001'] }],
])('the script refuses a key that is %s', async (_, rest) => {
  expect(await check(files, trustStoreJwks(makeTrust(signer, rest)))).toMatch(/^1 FAILED: no key is trusted/);
});

it('the script refuses a key that is revoked under another name', async () => {
  const [key] = trustStoreJwks(makeTrust(signer)).keys;
  const keys = [key, { ...key, issuer: 'other', revokedAtMs: NOW }];
  expect(await check(files, { keys })).toMatch(/^1 FAILED: no key is trusted/);
});
