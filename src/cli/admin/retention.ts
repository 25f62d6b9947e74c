import { count, didYouMean } from '../../bytes/text/wording.ts';
import { countPruned, prune } from '../../server/jobs/prune.ts';
import { MIN_RETENTION_DAYS, retentionKinds, type RetentionRules } from '../../server/store/retention.ts';
import type { Cli } from '../cli.ts';
import { DATA, withAdmin } from '../shared/input/administration.ts';
import type { CliCommand } from '../shared/options/command.ts';
import { option } from '../shared/options/option.ts';
import { parseParameter } from '../shared/options/options.ts';
import { usageError } from '../shared/options/values.ts';
import { writeCounts } from '../shared/output/product.ts';

const NEVER = 'never';
const RULE = option(
  '--rule <kind=days>',
  `set the days after its end for ${retentionKinds.join(', ')}: at least ${MIN_RETENTION_DAYS}, or ${NEVER}`,
  parseParameter,
).allowRepeats();

export const defineRetention = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'Show and set how long ended rows stay. Without a rule they stay for ever. Every worker of the store follows the rules.',
    )
    .perform([...DATA, RULE], async (options) => {
      const { rule } = options;
      const kinds: readonly string[] = retentionKinds;
      const unknown = Object.keys(rule ?? {}).find((kind) => !kinds.includes(kind));
      if (unknown !== undefined)
        throw usageError(
          `--rule ${unknown} is not a kind of rows`,
          didYouMean(unknown, kinds) ?? `There are ${kinds.join(', ')}.`,
        );
      const rules = await withAdmin(cli, options, async ({ admin, store }): Promise<RetentionRules> => {
        const before = await store.retention.rules();
        if (rule === undefined) return before;
        const changes = Object.entries(rule).map(([kind, days]) => [
          kind,
          days === NEVER ? undefined : Number(days),
        ]);
        return admin.setRetention({ ...before, ...Object.fromEntries(changes) });
      });
      const facts = retentionKinds.map((kind) => [kind, String(rules[kind] ?? NEVER)] as const);
      await writeCounts(cli, { kind: 'retention', rules }, facts);
    })
    .examples({
      'keep operations for a quarter, and conversations for a year':
        'drillproof admin retention --rule operations=90 --rule authoring=365',
    });

const DRY_RUN = option('--dry-run', 'count the rows that nothing keeps now, and remove nothing');

export const definePrune = (command: CliCommand, cli: Cli): CliCommand =>
  command
    .description(
      'Remove ended rows by the rules of the retention now. Workers do it every hour. Unused bytes of the file of the store are returned.',
    )
    .perform([...DATA, DRY_RUN], async (options) => {
      const { dryRun = false } = options;
      const { signal, now } = cli;
      const rows = await withAdmin(cli, options, ({ admin, store }) =>
        dryRun ? prune({ store, now }, { signal, dryRun }) : admin.prune({ signal }),
      );
      const total = { [dryRun ? 'to remove at least' : 'removed']: countPruned(rows) };
      const counts = Object.entries({ ...rows, ...total }).map(
        ([kind, number]) => [kind, count(number)] as const,
      );
      await writeCounts(cli, { kind: 'pruned', dryRun, rows }, counts);
    })
    .examples({
      'what the rules would remove': 'drillproof admin prune --dry-run',
      'remove it': 'drillproof admin prune',
    });
