/** A signed part, and copies of it that were edited and signed again, as with a stolen key. */
import { fromUtf8 } from '../../../src/bytes/text/encoding.ts';
import { memoryAccess, type RandomAccess } from '../../../src/bytes/random-access.ts';
import { attestDsse } from '../../../src/evidence/in-toto.ts';
import type { Statement } from '../../../src/evidence/bundle/attestation.ts';
import { encodeDsse } from '../../../src/trust/dsse.ts';
import { verifyPart } from '../../../src/verify/part/part.ts';
import type { BundleReport } from '../../../src/verify/report.ts';
import type { VerifyPartOptions } from '../../../src/verify/part/context.ts';
import {
  editJson,
  forge,
  hashOf,
  makePart,
  makeSigner,
  makeTrust,
  NOW,
  pack,
  unpack,
  type Json,
} from '../../support/evidence.ts';

export const signer = makeSigner();
export const trust = makeTrust(signer);
export const { packed, bytes: part } = await makePart(1, signer);
export const unsigned = (await makePart(1)).bytes;
export const entries = await unpack(part);

export const attestation = packed.attestation!;
/** An envelope with its statement. */
export const dsse = encodeDsse(await attestDsse(attestation.statement, [signer]));

type Choices = Partial<VerifyPartOptions>;
export const verifyAccess = (access: RandomAccess, choices: Choices = {}): Promise<BundleReport> =>
  verifyPart(access, { asOfMs: NOW, trust, ...choices });
export const verify = (bytes: Uint8Array, choices: Choices = {}): Promise<BundleReport> =>
  verifyAccess(memoryAccess(bytes), choices);

/** The attestation of a part with an edited statement, signed again. */
const resign = (files: ReadonlyMap<string, Uint8Array>, edit: (statement: Statement) => void) =>
  forge(files.get('attestation.json'), signer, edit);

export const withStatement = async (edit: (statement: Statement) => void): Promise<Uint8Array> =>
  pack(new Map(entries).set('attestation.json', await resign(entries, edit)));

/** The part with other files, an edited manifest, and a statement about both. */
export async function withManifest(
  edit: (manifest: Json & { objects: Json[] }) => void,
  files: ReadonlyMap<string, Uint8Array> = entries,
  subject: Partial<Statement['subject']> = {},
): Promise<Uint8Array> {
  const manifest = editJson(files.get('manifest.json'), edit);
  const manifestDigest = hashOf(fromUtf8(manifest));
  const changes = { manifestDigest, ...subject };
  const resigned = await resign(files, (s) => void Object.assign(s.subject, changes));
  return pack(new Map(files).set('manifest.json', manifest).set('attestation.json', resigned));
}
