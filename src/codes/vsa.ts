import type { CodeTable } from './entry.ts';

/** Codes of verification summaries (SLSA Verification Summary Attestation v1.1). */
export const vsaCodes = {
  'vsa.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The envelope contains no valid verification summary.',
    action: 'Look at the path in the finding, and ask the verifier to make the summary again.',
    clause: 'SLSA VSA v1.1, Fields; docs/vsa.md',
  },
  'vsa.NOT_PASSED': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary states that the evidence did not pass.',
    action: 'Read the reasons in the decision of that verifier.',
    clause: 'SLSA VSA v1.1, verificationResult',
  },
  'vsa.LEVEL_MISSING': {
    class: 'unsupported',
    severity: 'error',
    meaning: 'The summary does not state that drill evidence was verified.',
    action: 'Use a summary that the gate of drillproof made; levels of other tracks do not cover drills.',
    clause: 'SLSA VSA v1.1, verifiedLevels; docs/vsa.md',
  },
  'vsa.VERIFIER_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The verifier of the summary does not match the expected verifier.',
    action: 'Ask the verifier that you rely on for a summary.',
    clause: 'SLSA VSA v1.1, verifier',
  },
  'vsa.RESOURCE_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The resource of the summary does not match the expected resource.',
    action: 'Use the summary that was made for this purpose.',
    clause: 'SLSA VSA v1.1, resourceUri',
  },
  'vsa.POLICY_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The policy of the summary does not match the expected policy.',
    action: 'Have the evidence evaluated under the expected policy, or expect the other digest.',
    clause: 'SLSA VSA v1.1, policy',
  },
  'vsa.INPUT_MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'The summary does not cover all the expected evidence.',
    action: 'Have the missing evidence evaluated too; a summary covers only what it lists.',
    clause: 'in-toto Statement v1, subject; docs/vsa.md',
  },
  'vsa.INPUT_EXTRA': {
    class: 'extra',
    severity: 'error',
    meaning: 'The summary covers more evidence than expected, which may be why it passed.',
    action: 'Expect everything that it lists, or have your evidence evaluated on its own.',
    clause: 'in-toto Statement v1, subject; docs/vsa.md',
  },
  'vsa.TOO_OLD': {
    class: 'expired',
    severity: 'error',
    meaning: 'The summary is older than the maximum age.',
    action: 'Have the evidence evaluated again.',
    clause: 'SLSA VSA v1.1, timeVerified',
  },
  'vsa.FROM_FUTURE': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary was made after the time of this evaluation.',
    action: 'Check both clocks; a summary with a future time could be kept for later.',
    clause: 'SLSA VSA v1.1, timeVerified',
  },
  'vsa.SUBJECT_MISSING': {
    class: 'usage',
    severity: 'error',
    meaning: 'A summary needs a manifest, but the input was another summary or could not be read.',
    action: 'Evaluate the evidence itself, or omit --vsa.',
    clause: 'docs/vsa.md',
  },
} as const satisfies CodeTable;
