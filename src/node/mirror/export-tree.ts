import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import {
  BAG_DECLARATION,
  BAG_PAYLOAD,
  bagSource,
  type EvidenceSource,
  EXPORT_MANIFEST,
} from '../../evidence/index.ts';
import { directorySource } from '../evidence/directory-source.ts';

/** The tree of an export on disk. */
export type ExportTree = {
  readonly source: EvidenceSource;
  /** The folder that the paths of the export start from. */
  readonly folder: string;
};

/** The export in a folder: the folder itself, or `data/` where the folder is a BagIt bag (formats §1, Export). */
export function exportTree(root: string): ExportTree {
  const source = directorySource(root);
  const payload = join(root, BAG_PAYLOAD);
  const isBag = there(join(root, BAG_DECLARATION)) && there(payload) && !there(join(root, EXPORT_MANIFEST));
  return isBag ? { source: bagSource(source), folder: payload } : { source, folder: root };
}

const there = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
