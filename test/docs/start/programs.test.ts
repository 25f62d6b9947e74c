import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../src/server/listen.ts';
import { memorySource } from '../../../src/evidence/source.ts';
import { buildArchive, createTenants, makePlane, PROJECT, token } from '../../server/make.ts';
import { flipBit, makePart, makeReport, makeSigner } from '../../support/evidence.ts';
import { writeFiles } from '../../support/folder.ts';
import { makeProgramProject } from './programs.ts';

const PART = 'parts/evidence_000000000001.zip';
const run = promisify(execFile);
const unknown = {
  verdict: 'failed',
  problems: expect.arrayContaining([expect.objectContaining({ code: 'trust.KEY_UNKNOWN' })]),
};

it('table.js of docs/start/library.md writes a row for each bundle, and no outcome of one that failed', async () => {
  const { project, files, signer } = await makeProgramProject('library.md');
  const { bytes } = await makePart(3, signer);
  await writeFiles(project, { '=part.zip': bytes });
  await writeFiles(join(project, 'damaged'), { ...files, [PART]: flipBit(files[PART]!, 100) });
  const paths = ['trust.json', 'export', 'damaged', '=part.zip'];
  const { stdout } = await run(process.execPath, ['table.js', ...paths], { cwd: project });
  const issuer = 'https://drills.example';
  const rows = [
    ['path', 'list', 'bundle', 'verdict', 'signer', 'drill', 'outcome', 'errors'],
    ['export', 'attested', '', 'verified', issuer, '', '', ''],
    ['export', 'attested', 'evidence_000000000001', 'verified', issuer, 'check-package', 'passed', ''],
    ['export', 'attested', 'evidence_000000000002', 'verified', issuer, 'check-package', 'passed', ''],
    ['damaged', 'attested', '', 'failed', issuer, '', '', ''],
    [
      'damaged',
      'attested',
      'evidence_000000000001',
      'failed',
      '',
      '',
      '',
      expect.stringContaining('part.DIGEST_MISMATCH'),
    ],
    ['damaged', 'attested', 'evidence_000000000002', 'verified', issuer, 'check-package', 'passed', ''],
    ["'=part.zip", '', 'evidence_000000000003', 'verified', issuer, 'check-package', 'passed', ''],
  ];
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.slice(1, -1).split('","')),
  ).toEqual(rows);
});

it('endpoint.js of docs/start/library.md accepts a signed part, and refuses every other body', async () => {
  const { project, files } = await makeProgramProject('library.md');
  const child = spawn(process.execPath, ['endpoint.js'], {
    cwd: project,
    env: { ...process.env, PORT: '0' },
  });
  onTestFinished(() => void child.kill());
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const post = async (body: Uint8Array) => {
    const response = await fetch(`http://127.0.0.1:${String(port).trim()}`, {
      method: 'POST',
      body: Uint8Array.from(body),
    });
    const text = await response.text();
    return [response.status, text === '' ? '' : JSON.parse(text)];
  };
  expect(await post(flipBit(files[PART]!, 100))).toEqual([
    422,
    expect.objectContaining({ verdict: 'failed' }),
  ]);
  expect(await post(makeReport(1).bytes)).toEqual([422, expect.objectContaining({ verdict: 'failed' })]);
  expect(await post((await makePart(4, makeSigner())).bytes)).toEqual([422, unknown]);
  expect(await post((await makePart(5)).bytes)).toEqual([
    422,
    expect.objectContaining({ verdict: 'intact' }),
  ]);
  expect(await post(files[PART]!)).toEqual([201, { verdict: 'verified', problems: [] }]);
  expect(await post(files[PART]!)).toEqual([409, '']);
  expect(readdirSync(join(project, 'accepted'))).toEqual(['evidence_000000000001.zip']);
  await expect.poll(() => readdirSync(join(project, 'incoming'))).toEqual([]);
});

it('fetch.js and upload.js of docs/start/client.md mirror exports and upload a build', async () => {
  const { project, files } = await makeProgramProject('client.md', 0);
  const plane = await makePlane();
  onTestFinished(() => plane.close());
  await createTenants(plane);
  await plane.admin.ingestExport(memorySource(files));
  const listening = await listen(plane.server);
  onTestFinished(() => listening.close());
  const { bytes: archive, buildHash } = await buildArchive();
  await writeFiles(project, { 'build.zip': archive });
  const env = { ...process.env, CONTROL_URL: listening.url, DRILLPROOF_TOKEN: await token(plane) };
  const call = async (...words: string[]) =>
    (await run(process.execPath, words, { cwd: project, env })).stdout;
  expect(await call('fetch.js', PROJECT, 'trust.json')).toMatch(/^archive\/evexp_\d+ is verified\n$/);
  expect(await call('fetch.js', PROJECT, 'trust.json')).toBe('');
  expect(await call('upload.js', PROJECT, buildHash, 'build.zip')).toBe('succeeded\n');
});
