/** Exit codes: the evidence is good, it is bad, the call was wrong, it could not be checked, somebody ended it. */
export const EXIT = { pass: 0, bad: 1, usage: 2, unchecked: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
