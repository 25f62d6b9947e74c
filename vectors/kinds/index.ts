import type { Kind } from '../kind.ts';
import { archives } from './archives/index.ts';
import { attestations } from './attestations/index.ts';
import { base64url } from './base64url.ts';
import { bundleManifests } from './bundle-manifests.ts';
import { bundles } from './bundles/index.ts';
import { canonicalJson } from './canonical-json.ts';
import { challenges } from './challenges.ts';
import { cursors } from './cursors.ts';
import { derSignatures } from './der-signatures.ts';
import { dsse } from './dsse/index.ts';
import { exportManifests } from './export-manifests/index.ts';
import { exports } from './exports/index.ts';
import { hex } from './hex.ts';
import { identifiers } from './identifiers.ts';
import { checkKeys } from './check-key/index.ts';
import { keyFiles } from './key-files/index.ts';
import { paths } from './paths.ts';
import { policies } from './policies/index.ts';
import { receipts } from './receipts/index.ts';
import { signatures } from './signatures.ts';
import { strictJson } from './strict-json.ts';
import { summaries } from './summaries/index.ts';
import { timestamps } from './timestamps/index.ts';
import { toolSources } from './tool-sources.ts';
import { trustStores } from './trust-stores/index.ts';

/** Every kind of vector there is, from bytes to whole exports. */
export const KINDS: readonly Kind[] = [
  hex,
  base64url,
  strictJson,
  canonicalJson,
  identifiers,
  cursors,
  paths,
  derSignatures,
  signatures,
  keyFiles,
  trustStores,
  checkKeys,
  archives,
  bundleManifests,
  exportManifests,
  attestations,
  dsse,
  bundles,
  exports,
  receipts,
  policies,
  summaries,
  timestamps,
  challenges,
  toolSources,
];
