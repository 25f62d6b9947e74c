import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { examples } from '../shared/options/options.ts';
import { defineCheck } from './check.ts';
import { defineExplain } from './explain.ts';
import { defineInit } from './init.ts';
import { defineTest } from './test.ts';

export function define(command: Command, cli: Cli): void {
  command.description('Write, check, explain and test the policies of "drillproof gate".');
  defineInit(command.command('init').summary('write the default policy to a file'), cli);
  defineCheck(command.command('check').summary('list every mistake in a policy'), cli);
  defineExplain(command.command('explain').summary('explain a policy in words'), cli);
  defineTest(command.command('test').summary('apply a policy to cases with expected answers'), cli);
  examples(command, [
    ['write the default policy', 'drillproof policy init policy.yaml'],
    ['find mistakes', 'drillproof policy check policy.yaml'],
    ['read it in words', 'drillproof policy explain policy.yaml'],
    ['compare its answers with the expected ones', 'drillproof policy test policy.yaml cases.yaml'],
  ]);
}
