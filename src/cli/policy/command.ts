import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { examples } from '../shared/options/options.ts';
import { defineCheck } from './check.ts';
import { defineExplain } from './explain.ts';
import { defineInit } from './init.ts';
import { defineTest } from './test.ts';

export function define(command: Command, cli: Cli): void {
  command.description('Write and try the policies that "drillproof gate" applies.');
  defineInit(command.command('init').summary('write a policy to begin with'), cli);
  defineCheck(command.command('check').summary('find every fault of a policy'), cli);
  defineExplain(command.command('explain').summary('say in words what a policy asks for'), cli);
  defineTest(command.command('test').summary('apply a policy to cases with known answers'), cli);
  examples(command, [
    ['begin with the default policy', 'drillproof policy init policy.yaml'],
    ['find what is misspelt', 'drillproof policy check policy.yaml'],
    ['read it in words', 'drillproof policy explain policy.yaml'],
    ['hold it to what it must answer', 'drillproof policy test policy.yaml cases.yaml'],
  ]);
}
