import { type Command, InvalidArgumentError } from 'commander';

/** How a policy is read: `NAME=VALUE` of --param, each name once, and who vouches for its server. */
export type PolicyOptions = {
  readonly param?: Readonly<Record<string, string>>;
  readonly caFile?: string;
};

export const parameterOption = (command: Command): Command =>
  command.option(
    '--param <name=value>',
    'value of a parameter that the policy declares (repeatable)',
    readParameter,
  );

function readParameter(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9-]*)=([^]+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('It must be NAME=VALUE.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`The parameter ${name} is given twice.`);
  return { ...before, [name]: value };
}
