import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { call, expectPass, SIGNER, useEvidenceFolder } from '../make.ts';
import { readDecision, writeEnvelope, writePolicy } from './make.ts';

useEvidenceFolder(async () => {
  await writeFile('no-envelope.json', '{}');
  await expectPass('keys generate --out qa.pem');
  const add = '--trust two.json';
  await expectPass(`keys add qa.pub.pem --issuer acme-qa ${add}`);
  await expectPass(`keys add key.pub.pem --issuer acme-ci ${add}`);
  await expectPass(`keys add key.pub.pem --issuer acme-qa ${add}`);
});

it.each(['both', 'both.zip'])(
  'gate with envelopes counts their keys for every bundle of the export %s',
  async (path) => {
    await expectPass(`export part-1.zip part-2.zip ${SIGNER} --out ${path}`);
    const first = await writeEnvelope('part-1', 'qa', 'acme-qa');
    const second = await writeEnvelope('part-2', 'qa', 'acme-qa');
    const again = await writeEnvelope('part-2', 'key', 'acme-qa');
    const rules = 'outcome: { verdict: [passed, failed] }\nsigners: { distinct: 2 }\n';
    const line = `gate ${path} --trust two.json --jobs 1 ${await writePolicy(rules)} --json`;
    const decide = async (envelopes: string) => {
      const { answer, rules: results } = readDecision(await call(`${line} ${envelopes}`));
      return [answer, ...results.flatMap(({ violations }) => violations.map(({ code }) => code))];
    };
    for (const envelopes of [`${first} ${second}`, `${second} ${first} ${second}`])
      expect(await decide(envelopes)).toEqual(['yes']);
    for (const envelopes of [first, `${first} ${first}`, `${first} ${again}`])
      expect(await decide(envelopes)).toEqual(['no', 'policy.TOO_FEW_KEYS']);
    expect(await decide('')).toEqual(['no', 'policy.TOO_FEW_KEYS', 'policy.TOO_FEW_KEYS']);
    expect((await decide(`${first} ${second} --dsse no-envelope.json`))[0]).toBe('no');
  },
);
