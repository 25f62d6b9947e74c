import type { Command } from 'commander';
import { detectSyntax } from '../../policy/document/parse.ts';
import { jsonTemplate, yamlTemplate } from '../../policy/document/template.ts';
import { say, type Cli } from '../cli.ts';
import { examples, standardOptions } from '../shared/options/options.ts';
import { writeBytes } from '../shared/output/product.ts';

const NOTHING = new Uint8Array();

export function defineInit(command: Command, cli: Cli): void {
  standardOptions(command, { formats: false })
    .description('Write the default policy to a file, as YAML with comments or as JSON.')
    .argument('[file]', 'file to write, .yaml or .json; - for standard output', 'policy.yaml')
    .option('--force', 'replace an existing file')
    .action(async (file: string, { json, force = false }: { json?: boolean; force?: boolean }) => {
      const inJson = json === true || detectSyntax(file, NOTHING) === 'json';
      const text = inJson ? jsonTemplate() : yamlTemplate();
      await writeBytes(cli, file, [Buffer.from(text)], { force });
      if (file !== '-')
        await say(cli, `${file} is the default policy; edit it, then drillproof policy check ${file}`);
    });
  examples(command, [
    ['YAML with a comment for every rule', 'drillproof policy init policy.yaml'],
    ['JSON', 'drillproof policy init policy.json'],
  ]);
}
