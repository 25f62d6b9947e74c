declare const VERIFY_WORKER: string;

/** The thread that verifies parts as one module, with all that it imports; the build writes it here. */
export const code = VERIFY_WORKER;
