import { platform as portable } from '../../bytes/platform-portable.ts';
import type { SecondOpinion } from '../../verify/index.ts';
import { readZipWithYauzl } from './yauzl-reader.ts';

/** The other side of both things that are checked twice: noble for signatures, yauzl for archives. */
export const secondOpinion: SecondOpinion = { p256: portable.p256, readZip: readZipWithYauzl };
