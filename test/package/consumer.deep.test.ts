import { expect, test } from 'vitest';
import { compile, makeProject } from '../support/project.ts';

const project = await makeProject();
const options = { skipLibCheck: false, lib: ['es2023'] };

const PROGRAM = `
import { verifyAttestation } from 'drillproof';
import { createClient } from 'drillproof/client';
import { operations } from 'drillproof/contract';
import { verifyDirectory } from 'drillproof/node';
import { createServer } from 'drillproof/server';
const trust = { key: 'pem', issuer: 'https://drills.example' };
export const verdict: string = verifyAttestation('{}', { asOfMs: new Date(), trust }).verdict;
export const all = [operations, createClient, verifyDirectory, createServer];
`;

test('a project with skipLibCheck off compiles against every entry point without the optional packages', () => {
  expect(compile(project, { 'main.ts': PROGRAM }, options)).toBe('');
}, 120_000);

test('a project that uses an internal name does not compile', () => {
  const program = `import { checkKey } from 'drillproof';\nexport default checkKey;`;
  expect(compile(project, { 'main.ts': program }, options)).toContain('TS2305');
}, 120_000);

const wrong = (program: string) => compile(project, { 'main.ts': program }, options);

test('a project with a wrong argument or a wrong member of a report does not compile', () => {
  const names = `import { verifyAttestation } from 'drillproof';\nimport { verifyDirectory } from 'drillproof/node';\n`;
  expect(wrong(`${names}verifyAttestation(42, { asOfMs: 1 });`)).toContain('TS2345');
  expect(wrong(`${names}verifyAttestation('{}', { asOfMs: 1 }).verdit;`)).toContain('TS2551');
  expect(
    wrong(`${names}export const count: string = (await verifyDirectory('.', { asOfMs: 1 })).parts;`),
  ).toContain('TS2322');
}, 120_000);
