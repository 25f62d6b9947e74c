import { portablePlatform } from '../../bytes/index.ts';
import type { SecondOpinion } from '../../verify/index.ts';
import { readZipWithYauzl } from './yauzl-reader.ts';

export { readZipWithYauzl };

/** The other side of both things that are checked twice: noble for signatures, yauzl for archives. */
export const secondOpinion: SecondOpinion = { p256: portablePlatform.p256, readZip: readZipWithYauzl };
