import { MAX_EXPORT_ITEMS } from '../../contract/index.ts';
import { bundleDeletionJob, exportDeletionJob } from './delete/deletions.ts';
import { exportJob, type ExportJobOptions } from './export/export.ts';
import type { JobHandler } from './handler.ts';

/** The kinds of work that need no runner of a host: exports are generated, and what is deleted is let go. */
export const builtInJobs = (
  options: Omit<ExportJobOptions, 'maxItems'> & { readonly maxItems?: number },
): readonly JobHandler[] => [
  exportJob({ maxItems: MAX_EXPORT_ITEMS, ...options }),
  exportDeletionJob(),
  bundleDeletionJob(),
];
