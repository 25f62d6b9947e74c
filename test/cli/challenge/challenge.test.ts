import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openTsa, TSA, trusting } from '../../node/time/tsa.ts';
import { makeRunResult } from '../../support/evidence.ts';
import {
  call,
  callJson,
  expectExit,
  expectPass,
  readFailure,
  ROLES,
  SIGNER,
  useScratch,
  writeRun,
} from '../make.ts';

const HASH = `sha256:${'4f'.repeat(32)}`;
const START = Date.UTC(2026, 0, 1, 12);
const at = (ms: number) => ({ now: () => START + ms });
const dir = useScratch();

async function issue(ms: number, ttl = '1h'): Promise<{ seed: string; digest: string }> {
  const words = `challenge issue --drill checkout --build ${HASH} --ttl ${ttl} --key ${dir.path('auditor.pem')} --issuer auditor`;
  return callJson(`${words} --ledger ${dir.path('ledger.jsonl')}`, at(ms));
}

test('challenge issue adds signed lines, which list shows and verify checks with the last one', async () => {
  await expectPass(`keys generate --out ${dir.path('auditor.pem')}`);
  const trust = `--trust ${dir.path('trust.json')}`;
  await expectPass(`keys add ${dir.path('auditor.pub.pem')} --issuer auditor --purpose challenge ${trust}`);
  const first = await issue(0);
  const second = await issue(1);
  expect(first.seed).toMatch(/^\d{1,20}$/);
  expect(second.seed).not.toBe(first.seed);
  expect(await expectPass(`challenge list ${dir.path('ledger.jsonl')}`, at(2))).toContain(second.seed);
  const verify = `challenge verify ${dir.path('ledger.jsonl')}`;
  await expectExit(`${verify} ${trust} --expect-last ${second.digest}`, 0, 'VALID ledger of 2', at(2));
  await expectExit(`${verify} ${trust} --expect-last ${first.digest}`, 1, 'challenge.LAST_MISMATCH', at(2));
  await expectExit(verify, 3, 'NOT CHECKED', at(2));
  expect(await readFailure(call(verify.replace('ledger', 'none'), at(2)))).toEqual([2, 'io.NOT_FOUND']);
  const back = call(
    `challenge issue --drill checkout --build ${HASH} --ttl 1h --key ${dir.path('auditor.pem')} --issuer auditor --ledger ${dir.path('ledger.jsonl')}`,
    at(0),
  );
  expect(await readFailure(back)).toEqual([2, 'usage.INVALID']);
});

// Who runs the drills, and so holds the key of the signer, wants to keep only the runs that passed.
test('attack by the signer: a discarded run leaves a challenge without an answer, and gate says no', async () => {
  const tsa = openTsa(dir.path('tsa'));
  const authority = tsa.issue('tsa', { extensions: TSA });
  const trust = `--trust ${dir.path('trust.json')}`;
  const key = SIGNER.replace('key.pem', dir.path('key.pem'));
  for (const name of ['auditor', 'key']) await expectPass(`keys generate --out ${dir.path(`${name}.pem`)}`);
  await expectPass(`keys add ${dir.path('auditor.pub.pem')} --issuer auditor --purpose challenge ${trust}`);
  await expectPass(`keys add ${dir.path('key.pub.pem')} --issuer acme-ci ${trust}`);
  await expectPass(
    `keys add ${authority.pem} --issuer ${trusting(authority).issuer} --purpose timestamp ${trust}`,
  );
  const minute = 60_000;
  const pack = async (n: number, seed: string) => {
    await writeRun(dir.root, n);
    const run = JSON.parse(readFileSync(dir.path(`run-${n}.json`), 'utf8'));
    writeFileSync(dir.path(`run-${n}.json`), JSON.stringify({ ...run, createdAtMs: START + n * minute }));
    const identity = {
      runId: `run_check-${n}`,
      targetId: 'shop',
      buildHash: HASH,
      packageLockHash: HASH,
      seed,
      drillId: 'checkout',
    };
    writeFileSync(
      dir.path(`result-${n}.json`),
      JSON.stringify(makeRunResult(n, { identity, verdict: n === 1 ? 'passed' : 'failed' })),
    );
    await expectPass(
      `pack ${dir.path(`run-${n}`)} --run ${dir.path(`run-${n}.json`)} ${key} ${ROLES} --out ${dir.path(`part-${n}.zip`)}`,
      at(n * minute + 1),
    );
    return dir.path(`part-${n}.zip`);
  };
  const parts = [await pack(1, (await issue(0)).seed), await pack(2, (await issue(minute)).seed)];
  writeFileSync(
    dir.path('policy.yaml'),
    'schemaVersion: 1\nkind: policy\nchallenge: { answered: once, issuers: [auditor] }\n',
  );
  const gate = async (chosen: readonly string[], name: string) => {
    const folder = dir.path(name);
    const window = `--from ${START} --through ${START + 10 * minute}`;
    await expectPass(`export ${chosen.join(' ')} ${key} ${window} --out ${folder}`, at(10 * minute));
    const document = readFileSync(`${folder}/export-attestation.json`);
    writeFileSync(`${folder}.tst`, tsa.stamp(document, { signer: authority, at: '20260101121500Z' }));
    const decision = await callJson(
      `gate ${folder} --policy ${dir.path('policy.yaml')} ${trust} --challenges ${dir.path('ledger.jsonl')}`,
      at(120 * minute),
    );
    return decision.rules.find(({ rule }: any) => rule === 'challenge.answered');
  };
  expect(await gate(parts, 'all')).toMatchObject({ state: 'passed', violations: [] });
  const picked = await gate(parts.slice(0, 1), 'picked');
  expect(picked).toMatchObject({
    state: 'failed',
    violations: [{ code: 'policy.CHALLENGE_NOT_MET', subject: 'challenge 2' }],
  });
  const spare = await gate([...parts, await pack(3, '7')], 'spare');
  expect(spare.violations.map(({ subject }: any) => subject)).toEqual(['evidence_000000000003']);
});
