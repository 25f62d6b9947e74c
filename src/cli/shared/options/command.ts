import { Command } from 'commander';
import type { Declared, OptionsOf } from './option.ts';
import { usageError } from './values.ts';

const MAX_EXAMPLES = 5;

/** A command whose options are declared. No value of an option silently replaces another one. */
export class CliCommand extends Command {
  readonly declared: Declared[] = [];
  readonly #examples: string[] = [];

  override createCommand(name?: string): CliCommand {
    const command = new CliCommand(name).helpOption('-h, --help', 'show help');
    return command.addHelpText('after', () => command.#formatExamples());
  }

  /** Adds options, and an action that gets their values before the arguments. */
  perform<L extends readonly Declared[]>(
    list: L,
    act: (options: OptionsOf<L>, ...args: never[]) => unknown,
  ): this {
    for (const declared of list) this.#declare(declared);
    return this.action(async (...all: readonly unknown[]) => {
      for (const declared of this.declared) this.#checkNeeded(declared);
      await act(this.opts(), ...(all.slice(0, -2) as never[]));
    });
  }

  /** Adds examples to the help: command lines by their purpose. */
  examples(lineByPurpose: Readonly<Record<string, string>>): this {
    for (const [purpose, line] of Object.entries(lineByPurpose))
      this.#examples.push(`  # ${purpose}\n  $ ${line}`);
    return this;
  }

  /** A command with others below it shows the first example of each. */
  #listExamples(): readonly string[] {
    const below = this.commands.filter((command) => command instanceof CliCommand);
    return this.#examples.length > 0
      ? this.#examples
      : below.flatMap((command) => command.#listExamples().slice(0, 1)).slice(0, MAX_EXAMPLES);
  }

  #formatExamples(): string {
    const examples = this.#listExamples();
    return examples.length === 0 ? '' : `\nExamples:\n${examples.join('\n')}`;
  }

  #declare(declared: Declared): void {
    const { option, isRepeatable } = declared;
    this.declared.push(declared);
    if (!isRepeatable && !option.isBoolean())
      this.on(`option:${option.name()}`, () => {
        if (this.#isGiven(option.attributeName()))
          throw usageError(`--${option.name()} is given twice`, 'Give it once.');
      });
    this.addOption(option);
  }

  readonly #isGiven = (attribute: string): boolean => this.getOptionValueSource(attribute) === 'cli';

  #checkNeeded({ option, needed }: Declared): void {
    const unmet = this.#isGiven(option.attributeName()) && needed.find((group) => !group.some(this.#isMet));
    if (unmet === undefined || unmet === false) return;
    const flags = unmet.map(
      (need) =>
        this.options.find(({ long }) => long === need)?.flags ??
        (need.startsWith('[') ? `the argument ${need}` : need),
    );
    throw usageError(`${option.long} needs ${unmet.join(' or ')}`, `Add ${flags.join(' or ')}.`);
  }

  readonly #isMet = (need: string): boolean => {
    const [name, value] = need.split(' ');
    const given = this.options.find(({ long }) => long === name)?.attributeName();
    if (given !== undefined)
      return value === undefined ? this.#isGiven(given) : this.getOptionValue(given) === value;
    const at = this.registeredArguments.findIndex((argument) => need.includes(argument.name()));
    return this.processedArgs[at] !== undefined;
  };
}
