import { packaging } from '#packaging';
import { describeOptions } from '../../../report/index.ts';
import type { Run } from '../../../verify/index.ts';

export const ownVersion = (): Promise<string> => packaging.version();

/** The tool and the options of a run, as reports state them. */
export const describeRun = async (options: object): Promise<Pick<Run, 'tool' | 'options'>> => ({
  tool: { name: 'drillproof', version: await ownVersion() },
  options: describeOptions(options),
});
