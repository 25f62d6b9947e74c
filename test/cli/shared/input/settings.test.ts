import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { assertKnownVariables } from '../../../../src/cli/shared/input/settings.ts';

// No settings: a level of a summary, and what drillproof sets for programs that it starts.
const OTHERS = ['DRILLPROOF_EVIDENCE_VERIFIED', 'DRILLPROOF_SIGNER'];

it('every variable that the sources name is known, so that none of them is refused as mistyped', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const names = files.flatMap(
    (name) => readFileSync(join('src', name), 'utf8').match(/\bDRILLPROOF_[A-Z]\w+/g) ?? [],
  );
  const variables = new Set(names.filter((name) => !OTHERS.includes(name)));
  expect(variables).toContain('DRILLPROOF_TOKEN');
  for (const name of variables) expect(() => assertKnownVariables({ [name]: '1' })).not.toThrow();
});
