import type { CodeTable } from './entry.ts';

/** Codes of verification summaries (SLSA Verification Summary Attestation v1.1). */
export const vsaCodes = {
  'vsa.INVALID': {
    class: 'malformed',
    severity: 'error',
    meaning: 'The envelope holds no verification summary: a member is absent, or is not what it must be.',
    action: 'See the path and the rule named; the verifier has to make the summary again.',
    clause: 'SLSA VSA v1.1, Fields; docs/vsa.md',
  },
  'vsa.NOT_PASSED': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary says that the evidence did not pass.',
    action: 'See the decision of that verifier for the reasons; a signed no is no pass.',
    clause: 'SLSA VSA v1.1, verificationResult',
  },
  'vsa.LEVEL_MISSING': {
    class: 'unsupported',
    severity: 'error',
    meaning: 'The summary does not say that evidence of drills was verified, whatever else it says.',
    action: 'Give a summary that the gate of drillproof made; levels of other tracks say nothing of drills.',
    clause: 'SLSA VSA v1.1, verifiedLevels; docs/vsa.md',
  },
  'vsa.VERIFIER_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary is by another verifier than expected.',
    action: 'Ask the verifier that you rely on for a summary of its own.',
    clause: 'SLSA VSA v1.1, verifier',
  },
  'vsa.RESOURCE_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary is about another resource than expected.',
    action: 'Give the summary that was made for this use; one for another use says nothing here.',
    clause: 'SLSA VSA v1.1, resourceUri',
  },
  'vsa.POLICY_MISMATCH': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary was made under another policy than expected.',
    action: 'Have the evidence judged under the policy that you expect, or expect the other digest.',
    clause: 'SLSA VSA v1.1, policy',
  },
  'vsa.INPUT_MISSING': {
    class: 'missing',
    severity: 'error',
    meaning: 'The summary is not about evidence that it is expected to be about.',
    action: 'Have that evidence judged too; a summary says nothing of what it does not list.',
    clause: 'in-toto Statement v1, subject; docs/vsa.md',
  },
  'vsa.INPUT_EXTRA': {
    class: 'extra',
    severity: 'error',
    meaning: 'The summary is about more evidence than expected, which may be why it passed.',
    action: 'Expect everything that it lists, or have your evidence judged by itself.',
    clause: 'in-toto Statement v1, subject; docs/vsa.md',
  },
  'vsa.TOO_OLD': {
    class: 'expired',
    severity: 'error',
    meaning: 'The summary was made longer ago than allowed.',
    action: 'Have the evidence judged again.',
    clause: 'SLSA VSA v1.1, timeVerified',
  },
  'vsa.FROM_FUTURE': {
    class: 'mismatch',
    severity: 'error',
    meaning: 'The summary says that it was made after the time of this judgement.',
    action: 'Check both clocks; a summary from the future could be kept for later.',
    clause: 'SLSA VSA v1.1, timeVerified',
  },
  'vsa.SUBJECT_MISSING': {
    class: 'usage',
    severity: 'error',
    meaning:
      'A summary was asked for of something that has no manifest: another summary, or what was not read.',
    action: 'Judge the evidence itself, or leave --vsa out; a summary is about manifests and nothing else.',
    clause: 'docs/vsa.md',
  },
} as const satisfies CodeTable;
