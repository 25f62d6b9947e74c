#!/usr/bin/env node
/** The oldest version of Node.js that runs this program, as package.json states it. */
const OLDEST = [22, 13] as const;

/** Ends with 2, because the exit code 1 of Node.js would mean bad evidence. */
const refuse = (problem: string, advice: string): void => {
  process.stderr.write(`drillproof: usage.INVALID: ${problem}\n  ${advice}\n`);
  process.exitCode = 2;
};

async function main(): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return refuse(
      `Node.js ${process.versions.node} is too old`,
      `Install Node.js ${OLDEST.join('.')} or later.`,
    );
  const { createInterruptSignal, createProcessCli } = await import('./process.ts');
  const { run } = await import('./run.ts');
  const cli = createProcessCli(createInterruptSignal());
  // Errors outside awaited promises are reported in the same form, without a stack.
  process.on('uncaughtException', (error) => {
    void import('./failed.ts').then(async ({ reportFailure }) =>
      process.exit(await reportFailure(error, [], cli)),
    );
  });
  process.exitCode = await run(process.argv.slice(2), cli);
}

void main().catch((error: unknown) =>
  refuse(`the program cannot be loaded: ${String(error)}`, 'Install it again, with the packages it needs.'),
);
