import type { Check } from '../../verify/check.ts';
import type { Finding } from '../../verify/finding.ts';
import { notCheckedLines } from './checks.ts';
import { failuresSection, findingsSection } from './findings.ts';
import { labelled, type Page, type Section } from './page.ts';

/**
 * What every report ends with: what was not checked and why, what was found, what the result does not mean, and the
 * failures once more. `checks` has one group for each kind of subject, with one list for each subject.
 */
export function closing(
  page: Page,
  checks: readonly (readonly (readonly Check[])[])[],
  findings: readonly Finding[],
  caveats: readonly string[],
): readonly Section[] {
  return [
    { title: 'Not checked', lines: checks.flatMap((group) => notCheckedLines(page, group)) },
    findingsSection(page, findings),
    { title: 'What this does not mean', lines: caveats.flatMap((text) => labelled(page, '  - ', text)) },
    failuresSection(page, findings),
  ];
}
