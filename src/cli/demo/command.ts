import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { runDemo } from './demo.ts';
import { shown, type DemoSummary } from './stage.ts';
import { EXIT } from '../shared/output/exit.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { stableJson } from '../../report/index.ts';

type Options = { readonly project: string; readonly out: string };

const MORE = `
The drill: is an installed package the one that package-lock.json locks? Each
package under node_modules becomes the evidence of one run, signed by a key that
is made for the occasion. A control plane serves it on a free port of this
machine; nothing leaves the machine.

Exit codes: 0 every expectation held, 1 one did not, 2 wrong call, 3 it could
not run, 130 interrupted.`;

export function define(command: Command, cli: Cli): void {
  standardOptions(command)
    .description(
      'See everything work once, on real files: pack, sign, serve, mirror, verify, tamper, find it.',
    )
    .option('--project <dir>', 'folder with package-lock.json and node_modules', '.')
    .option('--out <dir>', 'folder to leave the mirror in', 'drillproof-demo')
    .action((options: Options) => demo(cli, options));
  examples(command, [
    ['in a project with installed packages', 'drillproof demo'],
    ['the result for a program', 'drillproof demo --json --quiet'],
  ]).addHelpText('after', MORE);
}

async function demo(cli: Cli, { project, out }: Options): Promise<void> {
  const json = cli.format === 'json';
  const tell = async (line: string): Promise<void> => {
    if (!json) await cli.stdout.write(`${line}\n`);
    else if (!cli.quiet) await cli.stderr.write(`${line}\n`);
  };
  const summary = await runDemo(cli, { project, out }, tell);
  if (json) await cli.stdout.write(stableJson({ schemaVersion: 1, kind: 'demo', ...summary }));
  else await cli.stdout.write(closing(summary, out));
  cli.exitCode = summary.expectations.every((one) => one.held) ? EXIT.pass : EXIT.bad;
}

function closing({ expectations, mirror, manifestDigest, seconds }: DemoSummary, out: string): string {
  const held = expectations.filter((one) => one.held).length;
  const trust = shown(`${out}/trust.json`);
  const folder = shown(mirror);
  const lines = [
    '',
    `${held} of ${expectations.length} expectations held, in ${seconds} s. The mirror is in ${folder}`,
    '',
    'Try next:',
    `  npx drillproof verify ${folder} --trust ${trust} --expect-manifest ${manifestDigest}`,
    `  npx drillproof inspect ${folder}`,
    `  npx drillproof explain part.DIGEST_MISMATCH`,
    'and without this tool:',
    `  (cd ${folder} && sha256sum -c SHA256SUMS)`,
    `  npx drillproof inspect --export-signature ${folder} --trust ${trust} --out signature`,
    '',
  ];
  return lines.join('\n');
}
