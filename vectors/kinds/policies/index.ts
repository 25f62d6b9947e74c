import type { Kind } from '../../kind.ts';
import { expectedSchema, inputSchema, type Expected, type Input } from './case.ts';
import { complete } from './complete.ts';
import { contradictions } from './contradictions.ts';
import { documents } from './documents.ts';
import { language } from './language.ts';
import { runs } from './runs.ts';
import { signers } from './signers.ts';
import { summaries } from './summaries.ts';
import { trialCases } from './trials.ts';
import { verdicts } from './verdicts.ts';
import { waivers } from './waivers.ts';

export const policies: Kind<Input, Expected> = {
  name: 'policies',
  about: 'a policy and the reports on evidence, and what it answers',
  clause: 'formats §8',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [
    ...documents(),
    ...verdicts(),
    ...signers(),
    ...runs(),
    ...complete(),
    ...trialCases(),
    ...waivers(),
    ...summaries(),
    ...contradictions(),
    ...language(),
  ],
};
