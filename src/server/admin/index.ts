import { checkArguments, OBJECT, type RandomAccess, withMembers } from '../../bytes/index.ts';
import type { EvidenceSource } from '../../evidence/index.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { defaultLimits } from '../limits.ts';
import { cancelOperation } from '../services/cancel.ts';
import type { Store } from '../store/store.ts';
import { type AdminContext, refused } from './context.ts';
import {
  createExport,
  type CreateExportInput,
  deleteBundle,
  deleteExport,
  workOff,
  type WorkOffOptions,
} from './exports.ts';
import { importResources } from './import.ts';
import { ingestBuild } from './ingest-build.ts';
import { ingestExport, type IngestExportOptions } from './ingest-export.ts';
import { ingestLocalReport } from './local-report.ts';
import { ingestBundle, type IngestBundleOptions } from './part.ts';
import {
  createOrganization,
  createProject,
  createToken,
  type OrganizationInput,
  type ProjectInput,
  revokeToken,
  setEntitlement,
  type TokenInput,
} from './tenants.ts';

export { importSchema, type ImportDocument } from './import.ts';
export type { WorkedOff } from './exports.ts';
export type { CreateExportInput } from './exports.ts';
export type { IngestExportOptions } from './ingest-export.ts';
export type { IssuedToken, OrganizationInput, ProjectInput, TokenInput } from './tenants.ts';

/**
 * The operations of an operator: create tenants and tokens, import resources, and store evidence and builds
 * (docs/server.md). They work on the stores directly, with or without a running server, and are not reachable over
 * HTTP.
 * @param options.now the clock, in milliseconds since 1970; default `Date.now`
 * @throws TypeError for an argument of the wrong kind; its methods throw DrillproofError with codes of docs/codes.md
 * @example
 * const admin = createAdmin(await openEmbedded('data'));
 * const permissions = ['evidence.read'] as const;
 * const { token } = await admin.createToken({ organizationId, projects: [projectId], permissions });
 */
export function createAdmin(options: {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly now?: () => number;
}) {
  checkArguments(
    { options: withMembers('an object with a store and blobs', { store: OBJECT, blobs: OBJECT }) },
    { options },
  );
  const { store, blobs, now = Date.now } = options;
  const context: AdminContext = { store, blobs, now, limits: defaultLimits };
  return {
    createOrganization: (input: OrganizationInput) => createOrganization(context, input),
    setEntitlement: (input: { organizationId: string; maxSessionTtlMs: number }) =>
      setEntitlement(context, input),
    createProject: (input: ProjectInput) => createProject(context, input),
    createToken: (input: TokenInput) => createToken(context, input),
    revokeToken: (tokenId: string) => revokeToken(context, tokenId),
    importResources: (document: unknown) => importResources(context, document),
    cancelOperation: async (ref: { organizationId: string; operationId: string }) => {
      if ((await store.operations.find(ref.organizationId, ref.operationId)) === undefined)
        throw refused(`the organization has no operation ${ref.operationId}`);
      return cancelOperation(store, now, ref);
    },
    ingestBundle: (projectId: string, part: RandomAccess, ingest?: IngestBundleOptions) =>
      ingestBundle(context, projectId, part, ingest),
    workOff: (work?: WorkOffOptions) => workOff(context, work),
    createExport: (input: CreateExportInput) => createExport(context, input),
    deleteBundle: (ref: { projectId: string; evidenceBundleId: string }) => deleteBundle(context, ref),
    deleteExport: (ref: { organizationId: string; evidenceExportId: string }) => deleteExport(context, ref),
    ingestLocalReport: (projectId: string, archive: RandomAccess, metadata: unknown) =>
      ingestLocalReport(context, projectId, archive, metadata),
    ingestExport: (source: EvidenceSource, ingest?: IngestExportOptions) =>
      ingestExport(context, source, ingest),
    ingestBuild: (projectId: string, archive: RandomAccess, requestedBy?: string) =>
      ingestBuild(context, projectId, archive, requestedBy),
  };
}

/** What an operator can do with the stores of a control plane. `createAdmin` makes one. */
export type Admin = ReturnType<typeof createAdmin>;
