/**
 * Exit codes: the evidence is good, it is bad, the call was wrong, it could not be checked, it was interrupted. Only
 * `selftest case` says `unsupported`: that it does not know the kind of a case (docs/formats/selftest.md).
 */
export const EXIT = { pass: 0, bad: 1, usage: 2, unchecked: 3, unsupported: 77, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit codes of envelopes and chains of signed reports, by their verdict. */
export const EXIT_OF_SIGNED = { valid: EXIT.pass, invalid: EXIT.bad, not_judged: EXIT.unchecked } as const;
