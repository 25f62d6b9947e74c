import { platform as portable } from '../../bytes/index.ts';
import type { SecondOpinion } from '../../verify/index.ts';
import { readZipWithYauzl } from './yauzl-reader.ts';

export { readZipWithYauzl };

/**
 * The second implementation of both things that `verify --second-opinion` checks twice: noble for signatures, yauzl for
 * archives (formats §4).
 */
export const secondOpinion: SecondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };
