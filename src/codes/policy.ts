import { cite } from './entry.ts';

const policies = cite('formats §8');

/** Codes of violations, one for each rule of a policy, and of a policy that cannot be applied. */
export const policyCodes = {
  'policy.INVALID': policies.usage(
    'The policy is not JSON or YAML of the required form.',
    'Correct the members in the message; "drillproof policy check FILE" lists every fault.',
  ),
  'policy.EXTENDS_MISMATCH': policies.usage(
    'The SHA-256 of an extended policy does not match the digest in the policy that extends it.',
    'Review the change in the extended policy, then enter its SHA-256, which sha256sum prints.',
  ),
  'policy.EXTENDS_EXCEEDED': policies.usage(
    'Policies extend each other more than 8 levels deep, or there are more than 64 of them.',
    'Put the rules into fewer files.',
  ),
  'policy.SOURCE_UNPINNED': policies.usage(
    'A policy at an https address or in a git revision is not pinned by its digest.',
    'Append "#" and the SHA-256 of the file to the address, such as #sha256:4f53….',
  ),
  'policy.SOURCE_MISMATCH': policies.usage(
    'The SHA-256 of a policy at an address does not match the digest that pins it.',
    'Review the change in the policy, then pin its new digest.',
  ),
  'policy.SOURCE_UNREADABLE': policies.usage(
    'A policy could not be read from its https address or git revision.',
    'Check the address with curl, or git:REVISION:PATH with git show, in the repository you are in.',
  ),
  'policy.PARAMETER_MISSING': policies.usage(
    'The policy declares a parameter, and no value was given for it.',
    'Pass the value with --param NAME=VALUE.',
  ),
  'policy.PARAMETER_UNKNOWN': policies.usage(
    'A value was given for a parameter that the policy does not declare.',
    'Correct the name in --param NAME=VALUE, or declare it in the policy under parameters.',
  ),
  'policy.PARAMETER_INVALID': policies.usage(
    'The value of a parameter does not have the type that the policy declares.',
    'Pass a value of that type with --param NAME=VALUE.',
  ),
  'policy.BASELINE_INVALID': policies.usage(
    'The baseline is neither the JSON of a decision nor a summary that a trusted key signed.',
    'Pass the file of an earlier gate (--format json=FILE or --vsa FILE), and for a summary its key in --trust.',
  ),
  'policy.EXPORT_VERDICT': policies.mismatch(
    'The verdict of an export is lower than the policy requires.',
    'Read the findings of the verification; they show what lowered the verdict.',
  ),
  'policy.BUNDLE_VERDICT': policies.mismatch(
    'The verdict of a bundle is lower than the policy requires.',
    'Read the findings of the verification; they show what lowered the verdict.',
  ),
  'policy.ISSUER_NOT_ALLOWED': policies.untrusted(
    'The policy does not allow the issuer that signed a bundle.',
    'Have the bundle signed by an allowed issuer, or ask the owner of the policy to add this one.',
  ),
  'policy.KEY_NOT_ALLOWED': policies.untrusted(
    'The policy does not allow the key that signed a bundle.',
    'Have the bundle signed with an allowed key, or ask the owner of the policy to add this one.',
  ),
  'policy.TOO_FEW_KEYS': policies.untrusted(
    'Fewer distinct keys signed a bundle than the policy requires.',
    'Collect the missing signatures in a DSSE envelope; two names of one key count once.',
  ),
  'policy.TOO_FEW_ISSUERS': policies.untrusted(
    'Fewer different issuers signed a bundle than the policy requires.',
    'Collect the missing signatures in a DSSE envelope; issuers that share a key count once.',
  ),
  'policy.ROLE_MISSING': policies.untrusted(
    'A group of signers that the policy requires did not sign a bundle with a key of its own.',
    'Have a member of the missing role sign the bundle in a DSSE envelope.',
  ),
  'policy.KEY_ENDS_SOON': policies.expired(
    'No allowed key that signed a bundle stays valid for as long as the policy requires.',
    'Have the bundle signed with a key that expires later, or extend the validity of the key in the trust store.',
  ),
  'policy.TIMESTAMP_MISSING': policies.missing(
    'The policy requires a trusted timestamp of every statement, and one has none.',
    'Get a token and keep it next to the evidence (drillproof timestamp FILE --tsa URL), and trust its authority.',
  ),
  'policy.TOO_OLD': policies.expired(
    'A statement is older than the policy allows.',
    'Run the drill again and use the new evidence.',
  ),
  'policy.RUN_TOO_OLD': policies.expired(
    'A run is older than the policy allows, or dated after its signature, so that its age is unknown.',
    'Run the drill again; a new signature does not make the run newer.',
  ),
  'policy.ORGANIZATION_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the organization of the evidence.',
    'Use evidence of an allowed organization.',
  ),
  'policy.PROJECT_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the project of a bundle.',
    'Use evidence of an allowed project.',
  ),
  'policy.DRILL_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the drill of a bundle.',
    'Use only evidence of allowed drills.',
  ),
  'policy.TARGET_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the target of a bundle.',
    'Run the drill on an allowed target.',
  ),
  'policy.SCENARIO_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the scenario of a bundle.',
    'Run an allowed scenario.',
  ),
  'policy.BUILD_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the build of a bundle.',
    'Run the drill on the build that will be released, and compare its buildHash.',
  ),
  'policy.PACKAGE_LOCK_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the package lock of a bundle.',
    'Run the drill with an allowed package lock.',
  ),
  'policy.SEED_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the seed of a bundle.',
    'Run the drill with an allowed seed.',
  ),
  'policy.CHALLENGE_NOT_MET': policies.missing(
    'A bundle answers no challenge in time, or a challenge has no answer or several.',
    'Find out which run was discarded or repeated, and issue a new challenge; pass the ledger (--challenges FILE).',
  ),
  'policy.TOO_FEW_SEEDS': policies.missing(
    'A drill ran with fewer different seeds than the policy requires.',
    'Run the drill with more seeds, and add the evidence.',
  ),
  'policy.TRIAL_NOT_ALLOWED': policies.mismatch(
    'The policy does not allow the trial or attempt of a bundle.',
    'Run as many trials and attempts as the policy allows.',
  ),
  'policy.SIGNED_LATE': policies.mismatch(
    'More time passed between a run and its first signature than the policy allows.',
    'Run the drill again, and sign its evidence at once.',
  ),
  'policy.RUN_REFUSED': policies.mismatch(
    'There is a run that the policy refuses.',
    'Find out why the run exists; use evidence without it only if its list is attested or pinned again.',
  ),
  'policy.RUN_TOO_LONG': policies.mismatch(
    'A run took more virtual time than the policy allows.',
    'Read the interactions in the run result to see what took the time.',
  ),
  'policy.DRILL_MISSING': policies.missing(
    'A drill that the policy requires has no verified bundle.',
    'Run that drill and add its evidence; only verified bundles count.',
  ),
  'policy.DRILL_UNVERIFIED': policies.missing(
    'A drill that the policy requires has only bundles that are not verified.',
    'Read the findings of the verification of these bundles.',
  ),
  'policy.DRILL_TOO_FEW': policies.missing(
    'A drill that the policy requires has fewer runs than required, all of which count.',
    'Run the drill more often, and add the evidence.',
  ),
  'policy.DRILL_ELSEWHERE': policies.missing(
    'A drill that the policy requires ran only on a different target, project, scenario, environment, world or seed.',
    'Run the drill where the policy requires it, and add the evidence.',
  ),
  'policy.DRILL_OTHER_BUILD': policies.missing(
    'A drill that the policy requires ran only on a different build or package lock.',
    'Run the drill on the build that will be released, and compare its buildHash.',
  ),
  'policy.DRILL_RERUN': policies.missing(
    'A drill that the policy requires has only reruns, which do not count.',
    'Run the drill as a new run, or let the policy count reruns of it (reruns: allow).',
  ),
  'policy.DRILL_TOO_OLD': policies.missing(
    'The runs of a drill that the policy requires are too old.',
    'Run the drill again, and add the evidence; a new signature does not make a run newer.',
  ),
  'policy.DRILL_TOO_NEW': policies.missing(
    'The runs of a drill that the policy requires are after the time that the policy states.',
    'Add the evidence of a run before that time.',
  ),
  'policy.DRILL_SIGNATURE_OLD': policies.missing(
    'The statements about the runs of a drill that the policy requires are too old.',
    'Run the drill again, and sign its evidence.',
  ),
  'policy.DRILL_SIGNERS': policies.untrusted(
    'The required keys or issuers did not sign the runs of a drill that the policy requires.',
    'Have the required signers sign the bundle, in a DSSE envelope if it is signed already.',
  ),
  'policy.DRILL_OUTCOME': policies.mismatch(
    'The runs of a drill that the policy requires did not end as required.',
    'Read the assertions of the run (drillproof inspect FILE), correct what failed, and run the drill again.',
  ),
  'policy.DRILL_ASSERTION': policies.mismatch(
    'An assertion or checkpoint that must pass did not pass in the runs of a required drill, or is missing.',
    'Correct what failed, or the name in the policy, and run the drill again.',
  ),
  'policy.DRILL_LATEST': policies.mismatch(
    'The latest run of a drill that the policy requires does not count.',
    'Run the drill again; an older run that passed does not replace the latest one.',
  ),
  'policy.DRILL_NOT_VARIED': policies.missing(
    'The runs of a drill that count have fewer different seeds, drills, targets or projects than required.',
    'Run the drill with the values that are missing, and add the evidence.',
  ),
  'policy.DRILL_PASS_RATE': policies.mismatch(
    'Too few of the runs of a required drill passed.',
    'Correct what failed, and run the drill again.',
  ),
  'policy.OUTCOME_STATUS': policies.mismatch(
    'The status of a run is not one that the policy accepts.',
    'Read the run result in the evidence to see why it ended this way.',
  ),
  'policy.OUTCOME_VERDICT': policies.mismatch(
    'The verdict of a drill is not one that the policy accepts.',
    'Read the assertions in the run result; the evidence is authentic, but the drill did not pass.',
  ),
  'policy.WORLD_INCONSISTENT': policies.mismatch(
    'The world of a run was not consistent, and the policy refuses that.',
    'Repair the world, and run the drill again.',
  ),
  'policy.BINDING_PARTIAL': policies.claimed(
    'A run is not completely bound to its evidence, and the policy refuses that.',
    'Find out what was not recorded, and run the drill again.',
  ),
  'policy.ASSERTION_CONTRADICTS': policies.mismatch(
    'A gate assertion did not pass in a run that does not state that it failed, and the policy refuses that.',
    'Do not rely on the outcome; correct the runner, and run the drill again.',
  ),
  'policy.CHECKPOINT_CONTRADICTS': policies.mismatch(
    'A final checkpoint did not pass in a run that does not state that it failed, and the policy refuses that.',
    'Do not rely on the outcome; correct the runner, and run the drill again.',
  ),
  'policy.BUDGET_EXCEEDED': policies.limit(
    'A run exceeded its budget, and the policy refuses that.',
    'Raise the budget of the drill, or find out what used it up, and run the drill again.',
  ),
  'policy.RUN_AFTER_SIGNATURE': policies.mismatch(
    'A run is dated after its signature, and the policy refuses that.',
    'Check the clocks of the runner and of the signer, and run the drill again.',
  ),
  'policy.PASS_RATE': policies.mismatch(
    'Fewer runs of a drill passed than the policy requires.',
    'Read the run results of the failed runs, repair the cause, and run the drill again.',
  ),
  'policy.ASSERTION_MISSING': policies.mismatch(
    'An assertion that the policy names did not pass in a run, or does not occur in it.',
    'Read the assertions in the run result, or correct the name in the policy.',
  ),
  'policy.CHECKPOINT_MISSING': policies.mismatch(
    'A checkpoint that the policy names did not pass in a run, or does not occur in it.',
    'Read the checkpoints in the run result, or correct the name in the policy.',
  ),
  'policy.SET_NOT_APPLIED': policies.mismatch(
    'A set of rules selects runs, and the evidence has none of them.',
    'Correct the selector (when, unless), or add the evidence that it is about.',
  ),
  'policy.ARTIFACT_NOT_DRILLED': policies.mismatch(
    'A run is not of the artifact that will be deployed.',
    'Run the drill on the artifact, and compare its SHA-256 with the buildHash of the run.',
  ),
  'policy.BASELINE_DRILL_MISSING': policies.missing(
    'A drill that ran the last time did not run again on the same target.',
    'Run that drill and add its evidence, or waive it (policy.BASELINE_DRILL_MISSING) if it was retired.',
  ),
  'policy.BASELINE_WORSE': policies.mismatch(
    'A smaller share of the runs of a drill passed than the last time.',
    'Read the assertions of the failed runs, correct what failed, and run the drill again.',
  ),
  'policy.BASELINE_FEWER_RUNS': policies.missing(
    'A drill ran less often than the last time.',
    'Run the drill more often, and add the evidence.',
  ),
  'policy.RECEIPTS_UNSOUND': policies.mismatch(
    'The policy requires a mirror with a sound chain of receipts.',
    'Read what is wrong with the chain (drillproof receipts verify MIRROR).',
  ),
  'policy.RECEIPT_TOO_OLD': policies.expired(
    'The last run of a mirror ended earlier than the policy allows.',
    'Run the mirror again.',
  ),
  'policy.NO_ALTERNATIVE': policies.mismatch(
    'None of the alternative sets of rules of the policy holds.',
    'Read which rules of each set do not hold, and satisfy one set completely.',
  ),
  'policy.COMPLETENESS_CLAIMED': policies.claimed(
    'The policy requires a pinned or attested list of bundles, and this one is only claimed.',
    'Pin the manifest with --expect-manifest if the policy accepts that, or pass an export attested by a key of purpose "export"; a single part has no list to attest.',
  ),
  'policy.LIST_ISSUER_NOT_ALLOWED': policies.untrusted(
    'No issuer that the policy allows attested the list of bundles.',
    'Pass an export whose list is signed by an allowed issuer, or pin the manifest with --expect-manifest; a single part has no list to sign.',
  ),
  'policy.LIST_KEY_NOT_ALLOWED': policies.untrusted(
    'No key that the policy allows attested the list of bundles.',
    'Pass an export whose list is signed with an allowed key, or pin the manifest with --expect-manifest; a single part has no list to sign.',
  ),
  'policy.WINDOW_TOO_SHORT': policies.mismatch(
    'The window of an export does not cover the time that the policy requires.',
    'Export again with a window that covers it.',
  ),
  'policy.BUNDLE_COUNT': policies.mismatch(
    'The number of bundles is not what the policy requires.',
    'Export the complete scope again, or correct the number in the policy.',
  ),
  'policy.LOCAL_REPORT_COUNT': policies.mismatch(
    'The number of local reports is not what the policy requires.',
    'Export the complete scope again, or correct the number in the policy.',
  ),
  'policy.UNCOVERED_BYTES': policies.extra(
    'Some bytes are not covered by a digest or a signature as the policy requires.',
    'Remove the files that the report lists as uncovered, or mirror the export again.',
  ),
  'policy.TRIAL_MISSING': policies.missing(
    'A trial of a run is missing, although other trials of the run are included.',
    'Export every trial of the run; a missing one could hide a failure.',
  ),
  'policy.ATTEMPT_PICKED': policies.mismatch(
    'A trial has a later attempt, but its earlier attempts are missing.',
    'Export every attempt of the trial, or allow retries in the policy.',
  ),
  'policy.RERUN_NOT_ALLOWED': policies.mismatch(
    'A bundle is from a rerun, and the policy does not allow reruns.',
    'Use the evidence of the original run, or allow reruns in the policy.',
  ),
  'policy.RUN_TWICE': policies.extra(
    'The same run occurs more than once.',
    'Remove the copy; a run counts once.',
  ),
  'policy.LOCAL_REPORT_NOT_ALLOWED': policies.extra(
    'The export contains a local report, and the policy does not allow any.',
    'Export without local reports, or allow them in the policy; they never count as evidence.',
  ),
  'policy.WARNING_REFUSED': policies.claimed(
    'The verification reports a warning that the policy refuses.',
    'Read the warning and its advice, or waive it with a reason and an expiry.',
  ),
  'policy.SUMMARY_NOT_ACCEPTED': policies.untrusted(
    'A verification summary is not the one that the policy pins, so it does not replace evidence.',
    'Use the evidence itself, or a summary by the verifier, policy, resource and keys that the policy names.',
  ),
} as const;

/** Codes of verification summaries (SLSA Verification Summary Attestation v1.1). */
export const vsaCodes = {
  'vsa.INVALID': cite('SLSA VSA v1.1, Fields; docs/gate/vsa.md').malformed(
    'The envelope contains no valid verification summary.',
    'Look at the path in the finding, and ask the verifier to make the summary again.',
  ),
  'vsa.NOT_PASSED': cite('SLSA VSA v1.1, verificationResult').mismatch(
    'The summary states that the evidence did not pass.',
    'Read the reasons in the decision of that verifier.',
  ),
  'vsa.LEVEL_MISSING': cite('SLSA VSA v1.1, verifiedLevels; docs/gate/vsa.md').unsupported(
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
  'vsa.PARAMETER_MISMATCH': cite('docs/gate/vsa.md').mismatch(
    'A parameter of the policy does not have the expected value in the summary.',
    'Have the evidence evaluated with the expected value.',
  ),
  'vsa.PARAMETERS_OPEN': cite('docs/gate/vsa.md').claimed(
    'The policy is expected, but not the values of its parameters, so the verifier chose them.',
    'Check the values, and expect each with --expect-param NAME=VALUE.',
    'warning',
  ),
  'vsa.INPUT_MISSING': cite('in-toto Statement v1, subject; docs/gate/vsa.md').missing(
    'The summary does not cover all the expected evidence.',
    'Have the missing evidence evaluated too; a summary covers only what it lists.',
  ),
  'vsa.ARTIFACT_MISSING': cite('SLSA VSA v1.1, subject; docs/gate/vsa.md').missing(
    'The summary does not name the expected artifact.',
    'Have the gate decide about this artifact (gate --artifact).',
  ),
  'vsa.INPUT_EXTRA': cite('in-toto Statement v1, subject; docs/gate/vsa.md').extra(
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
  'vsa.SUBJECT_MISSING': cite('docs/gate/vsa.md').usage(
    'A summary needs a manifest, but the input was another summary or could not be read.',
    'Evaluate the evidence itself, or omit --vsa.',
  ),
} as const;
