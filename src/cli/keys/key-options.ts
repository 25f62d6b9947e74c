import { Option, type Command } from 'commander';
import { type Purpose, PURPOSES } from '../../trust/index.ts';
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
  const purpose = new Option('--purpose <purpose>', 'valid for these statements (repeatable)')
    .choices(PURPOSES)
    .argParser(purposes);
  return command
    .option('--not-before <time>', 'first moment at which the key is valid', read)
    .option('--not-after <time>', 'last moment at which the key is valid', read)
    .option('--revoked-at <time>', 'the key is revoked from this moment on', read)
    .addOption(
      new Option('--compromised', 'refuse every signature of a revoked key (default)').conflicts(
        'notCompromised',
      ),
    )
    .option('--not-compromised', 'accept signatures made before the revocation')
    .option('--project <id>', 'valid only for this project (repeatable)', many(text))
    .option('--organization <id>', 'valid only for this organization (repeatable)', many(text))
    .addOption(defaultPurposes === undefined ? purpose : purpose.default(undefined, defaultPurposes));
}

function purposes(value: string, before: readonly Purpose[] | undefined): readonly Purpose[] {
  const purpose = PURPOSES.find((one) => one === value);
  if (purpose === undefined) throw usageError(`--purpose is one of ${PURPOSES.join(', ')}`);
  return [...(before ?? []), purpose];
}
