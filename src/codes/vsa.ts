import { cite } from './entry.ts';

/** Codes of verification summaries (SLSA Verification Summary Attestation v1.1). */
export const vsaCodes = {
  'vsa.INVALID': cite('SLSA VSA v1.1, Fields; docs/vsa.md').malformed(
    'The envelope contains no valid verification summary.',
    'Look at the path in the finding, and ask the verifier to make the summary again.',
  ),
  'vsa.NOT_PASSED': cite('SLSA VSA v1.1, verificationResult').mismatch(
    'The summary states that the evidence did not pass.',
    'Read the reasons in the decision of that verifier.',
  ),
  'vsa.LEVEL_MISSING': cite('SLSA VSA v1.1, verifiedLevels; docs/vsa.md').unsupported(
    'The summary does not state that drill evidence was verified.',
    'Use a summary that the gate of drillproof made; levels of other tracks do not cover drills.',
  ),
  'vsa.VERIFIER_MISMATCH': cite('SLSA VSA v1.1, verifier').mismatch(
    'The verifier of the summary does not match the expected verifier.',
    'Ask the verifier that you rely on for a summary.',
  ),
  'vsa.RESOURCE_MISMATCH': cite('SLSA VSA v1.1, resourceUri').mismatch(
    'The resource of the summary does not match the expected resource.',
    'Use the summary that was made for this purpose.',
  ),
  'vsa.POLICY_MISMATCH': cite('SLSA VSA v1.1, policy').mismatch(
    'The policy of the summary does not match the expected policy.',
    'Have the evidence evaluated under the expected policy, or expect the other digest.',
  ),
  'vsa.INPUT_MISSING': cite('in-toto Statement v1, subject; docs/vsa.md').missing(
    'The summary does not cover all the expected evidence.',
    'Have the missing evidence evaluated too; a summary covers only what it lists.',
  ),
  'vsa.INPUT_EXTRA': cite('in-toto Statement v1, subject; docs/vsa.md').extra(
    'The summary covers more evidence than expected, which may be why it passed.',
    'Expect everything that it lists, or have your evidence evaluated on its own.',
  ),
  'vsa.TOO_OLD': cite('SLSA VSA v1.1, timeVerified').expired(
    'The summary is older than the maximum age.',
    'Have the evidence evaluated again.',
  ),
  'vsa.FROM_FUTURE': cite('SLSA VSA v1.1, timeVerified').mismatch(
    'The summary was made after the time of this evaluation.',
    'Check both clocks; a summary with a future time would stay fresh for too long.',
  ),
  'vsa.SUBJECT_MISSING': cite('docs/vsa.md').usage(
    'A summary needs a manifest, but the input was another summary or could not be read.',
    'Evaluate the evidence itself, or omit --vsa.',
  ),
} as const;
