import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { publicKeyPem } from '../../../src/trust/key/key.ts';
import { makeExport, makeSigner } from '../../support/evidence.ts';
import { writeFiles } from '../../support/folder.ts';
import { call, callJson, expectExit, expectPass, useEvidenceFolder } from '../make.ts';

const YEARS = Array.from({ length: 15 }, (_, n) => 2026 + n);
const startOf = (year: number): number => Date.UTC(year, 0, 1);
const verify = (year: number, options = ''): string =>
  `verify of-${year} --trust years.json --require-list --as-of 2041-06-01 ${options}`;

useEvidenceFolder(async () => {
  for (const year of YEARS.toReversed()) {
    const signer = makeSigner();
    const atMs = startOf(year) + 200_000_000;
    const { files } = await makeExport({
      signer,
      reports: 0,
      bundle: { createdAtMs: atMs - 50_000 },
      signing: { issuedAtMs: atMs },
      input: { fromAtMs: atMs - 100_000, throughAtMs: atMs, createdAtMs: atMs, completedAtMs: atMs },
      issuedAtMs: atMs,
    });
    await writeFiles(`of-${year}`, files);
    await writeFile(`${year}.pem`, publicKeyPem(signer.point));
    const period = `--not-before ${year}-01-01 --not-after ${year + 1}-01-01`;
    await expectPass(`keys add ${year}.pem --issuer https://drills.example --trust years.json ${period}`);
  }
});

it('15 yearly keys verify the evidence of their years in the 16th, and are listed by time', async () => {
  for (const year of YEARS) await expectPass(verify(year));
  const { keys } = await callJson('keys list years.json');
  const starts = keys.map(({ notBeforeMs }: { notBeforeMs: number }) => notBeforeMs);
  expect(starts).toEqual(YEARS.map(startOf));
  const days = (await call('keys list years.json')).stdout.match(/from \d{4}/g);
  expect(days).toEqual(YEARS.map((year) => `from ${year}`));
});

it('a key that is compromised years later verifies nothing, also as of a time before; a retired one still does', async () => {
  const { keys } = await callJson('keys list years.json');
  const idOf = (year: number): string => keys[year - 2026].kid;
  await expectPass(`keys revoke ${idOf(2030)} --at 2038-01-01 --trust years.json`);
  await expectPass(`keys revoke ${idOf(2031)} --at 2038-01-01 --not-compromised --trust years.json`);
  await expectExit(verify(2030), 1, 'trust.KEY_REVOKED');
  await expectExit(verify(2030).replace('2041-06-01', '2035-06-01'), 1, 'trust.KEY_REVOKED');
  for (const year of YEARS.filter((other) => other !== 2030)) await expectPass(verify(year));
});
