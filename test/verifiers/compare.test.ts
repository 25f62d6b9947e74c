import { expect, it } from 'vitest';
import { makeTestFolder } from '../support/folder.ts';
import { makePlan } from './cases/plan.ts';
import { buildCase } from './cases/build.ts';
import { Lane, makeTally } from './compare.ts';
import { drillproof, type Verifier } from './verifiers.ts';

const CASES = 200;

const compare = async (verifier: Verifier, cases = CASES) => {
  const tally = makeTally();
  await new Lane(verifier, await makeTestFolder()).compare(1, 1 + cases, tally);
  return tally;
};

it('altered evidence has the same verdict in memory and on disk', async () => {
  const { differences, verdicts } = await compare(drillproof);
  expect(differences).toEqual([]);
  expect(verdicts.get('verified')).toBeGreaterThan(CASES / 20);
});

it('a verifier that accepts a wrong CRC-32 differs, in a case of one edit', async () => {
  const { differences } = await compare(async (questions) => {
    const answers = await drillproof(questions);
    return answers.map((answer) =>
      answer.codes?.includes('zip.CRC_MISMATCH') === true ? { ...answer, verdict: 'verified' } : answer,
    );
  });
  expect(differences).not.toEqual([]);
  for (const { plan, ours, theirs } of differences) {
    expect(plan.edits).toHaveLength(1);
    expect([ours.verdict, theirs.verdict]).toEqual(['failed', 'verified']);
  }
});

it('a verifier that crashes differs', async () => {
  const crash = { crash: 'IndexError' };
  const { differences } = await compare((questions) => Promise.resolve(questions.map(() => crash)), 5);
  expect(differences).toHaveLength(5);
  expect(differences[0]?.plan.edits).toEqual([]);
});

it('a seed leads to the same case each time', () => {
  for (let seed = 1; seed <= 50; seed++) expect(buildCase(makePlan(seed))).toEqual(buildCase(makePlan(seed)));
});
