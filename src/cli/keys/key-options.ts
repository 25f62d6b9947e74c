import { Option, type Command } from 'commander';
import { PURPOSES, type Purpose } from '../../trust/index.ts';
import { many, text, time } from '../shared/options/options.ts';
import { usageError } from '../shared/options/usage.ts';

/** A moment, or `none` to take a limit away. */
export type Moment = number | 'none';

/** What the command line says of what a key is trusted for. */
export type KeyOptions<M = Moment> = {
  readonly notBefore?: M;
  readonly notAfter?: M;
  readonly revokedAt?: M;
  readonly compromised?: boolean;
  readonly notCompromised?: boolean;
  readonly project?: readonly string[];
  readonly organization?: readonly string[];
  readonly purpose?: readonly Purpose[];
};

export const momentOrNone = (value: string): Moment => (value === 'none' ? 'none' : time(value));

/** The options that limit a key; `defaultPurposes` is what the help says of a key without --purpose. */
export function keyOptions(
  command: Command,
  read: (value: string) => Moment,
  defaultPurposes?: string,
): Command {
  const purpose = new Option('--purpose <purpose>', 'what it speaks for (may be given again)')
    .choices(PURPOSES)
    .argParser(purposes);
  return command
    .option('--not-before <time>', 'first moment for which the key speaks', read)
    .option('--not-after <time>', 'last moment for which the key speaks', read)
    .option('--revoked-at <time>', 'the key is revoked from this moment on', read)
    .addOption(
      new Option('--compromised', 'nothing that a revoked key signed stands (the default)').conflicts(
        'notCompromised',
      ),
    )
    .option('--not-compromised', 'what a revoked key signed before it was revoked stands')
    .option('--project <id>', 'speaks only for this project (may be given again)', many(text))
    .option('--organization <id>', 'speaks only for this organization (may be given again)', many(text))
    .addOption(defaultPurposes === undefined ? purpose : purpose.default(undefined, defaultPurposes));
}

function purposes(value: string, before: readonly Purpose[] | undefined): readonly Purpose[] {
  const purpose = PURPOSES.find((one) => one === value);
  if (purpose === undefined) throw usageError(`--purpose is one of ${PURPOSES.join(', ')}`);
  return [...(before ?? []), purpose];
}
