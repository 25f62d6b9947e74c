import { canonicalBytes } from '../bytes/json/canonical.ts';
import { type Digest, digestOf } from '../bytes/hash.ts';
import type { JsonValue } from '../bytes/json/parse.ts';
import { LIST, listOf, optional, withMembers } from '../bytes/arguments.ts';
import type { PolicyUsed } from './decision.ts';
import type { PolicyDocument } from './document/document.ts';

/** A policy with everything that it extends (formats §8). Every layer must hold by itself. */
export type Policy = PolicyUsed & {
  /** Each document once, after those that it extends. */
  readonly layers: readonly PolicyDocument[];
  /** The line of a JSON pointer in the file of a document, by its place in `layers`. */
  readonly locate?: (layer: number, pointer: string) => number | undefined;
  /** Parameters that a document declares and does not use. */
  readonly unusedParameters?: readonly string[];
};

export const POLICY = withMembers('a policy, as parsePolicy or readPolicy returns it', {
  layers: listOf(withMembers('a document of a policy', { waivers: optional(LIST) })),
});

/** The default: signed, bound, the drill passed, and the list not only claimed. */
export const DEFAULT_DOCUMENT: PolicyDocument = {
  schemaVersion: 1,
  kind: 'policy',
  name: 'default',
  verdict: { export: 'verified', bundles: 'verified' },
  outcome: { status: ['completed'], verdict: ['passed'] },
  contradictions: 'refuse',
  completeness: { vouched: ['pinned', 'attested'] },
};

/** SHA-256 of the RFC 8785 form of all layers, without `$schema`. */
export const policyDigest = (layers: readonly PolicyDocument[]): Digest =>
  digestLayers(layers.map(({ $schema: _schema, ...document }) => document));

export const digestLayers = (layers: readonly object[] | readonly JsonValue[]): Digest =>
  digestOf(canonicalBytes(layers));

export const policyOf = (document: PolicyDocument, name = document.name ?? 'policy'): Policy => ({
  name,
  digest: policyDigest([document]),
  sources: [],
  layers: [document],
});

/**
 * The policy of `gate` without `--policy` (formats §8): every bundle is verified, its drill completed and passed, and
 * the list of bundles is pinned or attested.
 */
export const DEFAULT_POLICY: Policy = policyOf(DEFAULT_DOCUMENT);
