import { checkArguments } from '../../bytes/arguments.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { cancelOperation } from '../jobs/settle.ts';
import { STORES } from '../jobs/standard.ts';
import type { Store } from '../store/store.ts';
import { type AdminContext, refusedError } from '../model/admin-context.ts';
import { createExport, deleteBundle, deleteExport, workOff } from './exports.ts';
import { prune, setRetention } from '../jobs/prune.ts';
import { importResources } from './import.ts';
import { ingestBuild } from './ingest-build.ts';
import { ingestExport } from './ingest-export.ts';
import { ingestLocalReport } from './local-report.ts';
import { ingestBundle } from '../services/part.ts';
import {
  createOrganization,
  createProject,
  createToken,
  revokeToken,
  revokeTokens,
  rotateToken,
  setEntitlement,
} from './tenants.ts';

const administration = {
  createOrganization,
  setEntitlement,
  createProject,
  createToken,
  rotateToken,
  revokeToken,
  revokeTokens,
  importResources,
  async cancelOperation(
    { store, now }: AdminContext,
    ref: { readonly organizationId: string; readonly operationId: string },
  ) {
    if ((await store.operations.find(ref.organizationId, ref.operationId)) === undefined)
      throw refusedError(`the organization has no operation ${ref.operationId}`);
    return store.transaction((tx) => cancelOperation(tx, ref, now()));
  },
  ingestBundle,
  ingestLocalReport,
  ingestExport,
  ingestBuild,
  createExport,
  deleteBundle,
  deleteExport,
  workOff,
  setRetention,
  prune,
};

type WithoutContext<F> = F extends (context: AdminContext, ...values: infer A) => infer R
  ? (...values: A) => R
  : never;

/** The operations of an operator on the stores of a control plane. */
export type Admin = {
  readonly [K in keyof typeof administration]: WithoutContext<(typeof administration)[K]>;
};

/**
 * Creates the operations of an operator: create tenants and tokens, import resources, and store evidence and builds
 * (docs/server/server.md). They work directly on the stores, with or without a running server, and not over HTTP.
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
}): Admin {
  checkArguments({ options: STORES }, { options });
  const { store, blobs, now = Date.now } = options;
  const context: AdminContext = { store, blobs, now };
  const bind =
    (act: (context: AdminContext, ...values: never[]) => unknown) =>
    (...values: never[]): unknown =>
      act(context, ...values);
  return Object.fromEntries(Object.entries(administration).map(([name, act]) => [name, bind(act)])) as Admin;
}
