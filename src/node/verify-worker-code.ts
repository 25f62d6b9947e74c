declare const VERIFY_WORKER: string;

/** The thread that verifies parts as one module with all its imports. The build inserts it. */
export const code = VERIFY_WORKER;
