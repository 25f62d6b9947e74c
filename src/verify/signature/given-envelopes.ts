import { BYTES, type Digest, type Kind } from '../../bytes/index.ts';
import { readDsseSubject } from '../../evidence/index.ts';
import { parseDsse } from '../../trust/index.ts';
import { acceptedTypes, type Settings } from '../options.ts';
import type { ExportFacts } from './binding.ts';

/** DSSE envelopes that a caller gives with evidence: one, or at most 10,000. */
export type Envelopes = Uint8Array | readonly Uint8Array[];

/** An envelope that the caller gave, and the path of findings about it: it has no name of its own. */
export type GivenEnvelope = { readonly path: string; readonly bytes: Uint8Array };

/** The most envelopes for one part or export (formats, Limits). */
export const MAX_ENVELOPES = 10_000;

export const ENVELOPES: Kind = {
  what: `a Uint8Array, or an array of at most ${MAX_ENVELOPES}`,
  accepts: (value) =>
    BYTES.accepts(value) ||
    (Array.isArray(value) && value.length <= MAX_ENVELOPES && value.every(BYTES.accepts)),
};

/** An envelope that is the only one. */
export const onlyEnvelope = (bytes: Uint8Array): GivenEnvelope => ({ path: 'dsse', bytes });

/** The envelopes of a caller with their paths: `dsse`, or `dsse/0`, `dsse/1`, … where there are several. */
export function givenEnvelopes(dsse: Envelopes = []): readonly GivenEnvelope[] {
  const all = dsse instanceof Uint8Array ? [dsse] : dsse;
  const [first] = all;
  if (all.length === 1 && first !== undefined) return [onlyEnvelope(first)];
  return all.map((bytes, at) => ({ path: `dsse/${at}`, bytes }));
}

/** The envelopes given with an export, sorted by the subject that they name before any of them is verified. */
export type SortedEnvelopes = {
  /** About the list, and whatever names no bundle: verified as about the list, it fails with its own code. */
  readonly list: readonly GivenEnvelope[];
  /** About a bundle that the export lists, by the digest of its manifest. */
  readonly parts: ReadonlyMap<string, readonly GivenEnvelope[]>;
  /** About a bundle that the export does not list. */
  readonly stray: readonly (GivenEnvelope & { readonly digest: Digest })[];
};

/** Sorts envelopes by the subject of their in-toto statements (formats §2, DSSE). Nothing is verified. */
export function sortEnvelopes(
  envelopes: readonly GivenEnvelope[],
  { manifest, manifestDigest }: ExportFacts,
  settings: Settings,
): SortedEnvelopes {
  const parts = new Map<string, GivenEnvelope[]>(manifest.parts.map((row) => [row.manifestDigest, []]));
  const list: GivenEnvelope[] = [];
  const stray: (GivenEnvelope & { digest: Digest })[] = [];
  for (const envelope of envelopes) {
    const subject = subjectOf(envelope, settings);
    const ofPart = parts.get(subject?.digest ?? '');
    if (subject === undefined || subject.digest === manifestDigest) list.push(envelope);
    else if (ofPart !== undefined) ofPart.push(envelope);
    else if (subject.onBundle) stray.push({ ...envelope, digest: subject.digest });
    else list.push(envelope);
  }
  return { list, parts, stray };
}

function subjectOf({ bytes }: GivenEnvelope, settings: Settings) {
  try {
    const { digest, predicateType } = readDsseSubject(
      parseDsse(bytes, { maxBytes: settings.limits.documentBytes }),
    );
    return { digest, onBundle: acceptedTypes(settings, 'evidence').includes(predicateType) };
  } catch {
    return undefined; // its verification reports what is wrong
  }
}
