import { writeFile } from 'node:fs/promises';
import type { Decision } from '../../../src/policy/decision.ts';
import { expectPass, type CliResult } from '../make.ts';

export const readDecision = ({ stdout }: CliResult): Decision => JSON.parse(stdout);

/** The codes of all violations of a decision, each once, sorted. */
export const listViolations = ({ rules }: Decision): readonly string[] =>
  [...new Set(rules.flatMap(({ violations }) => violations.map(({ code }) => code)))].toSorted();

/** Writes a policy with these rules; returns the option that names it. */
export async function writePolicy(rules: string, name = 'policy.yaml'): Promise<string> {
  await writeFile(name, `schemaVersion: 1\nkind: policy\n${rules}`);
  return `--policy ${name}`;
}

/** Signs a part with a key; returns the option that names the envelope. */
export async function writeEnvelope(part: string, key: string, issuer: string): Promise<string> {
  const out = `${part}-${key}-${issuer}.dsse.json`;
  await expectPass(`dsse create ${part}.zip --key ${key}.pem --issuer ${issuer} --force --out ${out}`);
  return `--dsse ${out}`;
}
