import * as z from 'zod/mini';
import { canonicalJson } from '../../bytes/json/canonical.ts';
import { authoringSessionSchema } from '../../contract/resources/authoring.ts';
import {
  digestSchema,
  environmentIdSchema,
  msSchema,
  organizationIdSchema,
  positiveIntegerSchema,
  projectIdSchema,
  schemaVersionSchema,
} from '../../contract/scalars.ts';
import { hostedRunSchema } from '../../contract/resources/run.ts';
import { worldSessionSchema } from '../../contract/resources/session.ts';
import { documentError, type DocumentIssue, typeDocument } from '../../evidence/document.ts';
import type { InProject, Tx } from '../store/store.ts';
import { isDerived } from '../services/part.ts';
import { nameSchema, type AdminContext } from '../model/admin-context.ts';

/** An environment as the store holds it; the API has no resource for it. */
const environmentSchema = z.strictObject({
  organizationId: organizationIdSchema,
  projectId: projectIdSchema,
  environmentId: environmentIdSchema,
  name: nameSchema,
  buildHash: z.exactOptional(digestSchema),
  version: positiveIntegerSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
});

/** The file of `admin import`: worlds, runs and authoring sessions of other systems. */
export const importSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  environments: z._default(z.array(environmentSchema), []),
  sessions: z._default(z.array(worldSessionSchema), []),
  runs: z._default(z.array(hostedRunSchema), []),
  authoringSessions: z._default(z.array(authoringSessionSchema), []),
});
export type ImportDocument = z.input<typeof importSchema>;

/** A resource after an import. `unchanged`: the same resource was already stored. */
export type ImportedResource = {
  readonly type: 'environment' | 'session' | 'run' | 'authoring_session';
  readonly projectId: string;
  readonly id: string;
  readonly result: 'created' | 'unchanged';
};

type Imported<K extends Exclude<keyof ImportDocument, 'schemaVersion'>> = z.output<
  typeof importSchema
>[K][number];

type Kind<R extends InProject> = {
  readonly type: ImportedResource['type'];
  readonly idOf: (resource: R) => string;
  readonly read: (tx: Tx, projectId: string, id: string) => Promise<object | undefined>;
  /** Lists contradictions with other resources; the pointers are relative to the resource. */
  readonly check?: (tx: Tx, resource: R) => Promise<readonly DocumentIssue[]>;
  readonly insert: (tx: Tx, resource: R, owner: InProject) => Promise<void>;
};

const environment: Kind<Imported<'environments'>> = {
  type: 'environment',
  idOf: ({ environmentId }) => environmentId,
  read: (tx, projectId, id) => tx.environments.find(projectId, id),
  insert: (tx, row) => tx.environments.insert(row),
};

const session: Kind<Imported<'sessions'>> = {
  type: 'session',
  idOf: ({ sessionId }) => sessionId,
  read: async (tx, projectId, id) => (await tx.sessions.find(projectId, id))?.resource,
  check: async (tx, { projectId, environmentId }) =>
    (await tx.environments.find(projectId, environmentId)) === undefined
      ? [{ path: '/environmentId', message: `the project has no environment ${environmentId}` }]
      : [],
  insert: (tx, resource, owner) => tx.sessions.insert({ ...owner, sessionId: resource.sessionId, resource }),
};

const run: Kind<Imported<'runs'>> = {
  type: 'run',
  idOf: ({ hostedRunId }) => hostedRunId,
  read: async (tx, projectId, id) => {
    const existing = (await tx.runs.find(projectId, id))?.resource;
    return existing !== undefined && isDerived(existing) ? undefined : existing;
  },
  check: async (tx, resource) => [...(await checkSessionOfRun(tx, resource)), ...checkIdentity(resource)],
  insert: async (tx, resource, owner) => {
    const { hostedRunId } = resource;
    const derived = await tx.runs.lock(owner.projectId, hostedRunId);
    await tx.runs[derived === undefined ? 'insert' : 'update']({ ...owner, hostedRunId, resource });
  },
};

async function checkSessionOfRun(tx: Tx, imported: Imported<'runs'>): Promise<readonly DocumentIssue[]> {
  const row = await tx.sessions.find(imported.projectId, imported.sessionId);
  if (row === undefined)
    return [{ path: '/sessionId', message: `the project has no session ${imported.sessionId}` }];
  const { environmentId } = row.resource;
  if (environmentId === imported.environmentId) return [];
  return [{ path: '/environmentId', message: `the session belongs to environment ${environmentId}` }];
}

/** A rerun compares the identity, so it must be that of the result. */
function checkIdentity({ identity, result }: Imported<'runs'>): readonly DocumentIssue[] {
  if (identity === undefined || result === undefined) return [];
  if (canonicalJson(identity) === canonicalJson(result.identity)) return [];
  return [{ path: '/identity', message: 'identity does not match the identity in the result' }];
}

const authoringSession: Kind<Imported<'authoringSessions'>> = {
  type: 'authoring_session',
  idOf: ({ authoringSessionId }) => authoringSessionId,
  read: async (tx, projectId, id) => (await tx.authoringSessions.find(projectId, id))?.resource,
  // A session waits until its active turn ends, and a turn that is not stored would never end.
  check: async (tx, { projectId, activeTurnId }) =>
    activeTurnId === undefined || (await tx.turns.find(projectId, activeTurnId)) !== undefined
      ? []
      : [{ path: '/activeTurnId', message: `the project has no turn ${activeTurnId}` }],
  insert: (tx, resource, owner) =>
    tx.authoringSessions.insert({ ...owner, authoringSessionId: resource.authoringSessionId, resource }),
};

type Step = (tx: Tx) => Promise<Outcome>;

const buildSteps = <R extends InProject>(kind: Kind<R>, list: string, resources: readonly R[]): Step[] =>
  resources.map((resource, n) => (tx) => importResource(tx, kind, resource, `/${list}/${n}`));

/** Lists every resource after those to which it refers. */
const listSteps = (file: z.output<typeof importSchema>): readonly Step[] => [
  ...buildSteps(environment, 'environments', file.environments),
  ...buildSteps(session, 'sessions', file.sessions),
  ...buildSteps(run, 'runs', file.runs),
  ...buildSteps(authoringSession, 'authoringSessions', file.authoringSessions),
];

async function checkProject(
  tx: Tx,
  { organizationId, projectId }: InProject,
): Promise<readonly DocumentIssue[]> {
  const project = await tx.projects.find(projectId);
  if (project === undefined) return [{ path: '/projectId', message: `no project ${projectId}` }];
  if (project.organizationId === organizationId) return [];
  return [{ path: '/organizationId', message: `the project belongs to ${project.organizationId}` }];
}

type Outcome =
  | ImportedResource
  | {
      readonly code: 'server.ADMIN_REFUSED' | 'server.IMPORT_CONFLICT';
      readonly issues: readonly DocumentIssue[];
    };

/** @param path the JSON pointer of the resource in the file */
async function importResource<R extends InProject>(
  tx: Tx,
  kind: Kind<R>,
  resource: R,
  path: string,
): Promise<Outcome> {
  const { organizationId, projectId } = resource;
  const imported = { type: kind.type, projectId, id: kind.idOf(resource) };
  const stored = await kind.read(tx, projectId, imported.id);
  if (stored !== undefined) {
    if (canonicalJson(stored) === canonicalJson(resource)) return { ...imported, result: 'unchanged' };
    const message = `${imported.id} is stored with other content`;
    return { code: 'server.IMPORT_CONFLICT', issues: [{ path, message }] };
  }
  const faults = await checkProject(tx, resource);
  // Without its project, every reference of a resource would be broken too.
  const issues = faults.length > 0 ? faults : ((await kind.check?.(tx, resource)) ?? []);
  if (issues.length > 0)
    return {
      code: 'server.ADMIN_REFUSED',
      issues: issues.map((issue) => ({ ...issue, path: `${path}${issue.path}` })),
    };
  await kind.insert(tx, resource, { organizationId, projectId });
  return { ...imported, result: 'created' };
}

/** Runs in the transaction of the import: an error undoes every insert. */
async function importAll(tx: Tx, steps: readonly Step[]): Promise<ImportedResource[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await step(tx));
  const faults = outcomes.flatMap((outcome) => ('issues' in outcome ? [outcome] : []));
  if (faults.length > 0) {
    const isConflict = faults.every(({ code }) => code === 'server.IMPORT_CONFLICT');
    throw documentError(
      isConflict ? 'server.IMPORT_CONFLICT' : 'server.ADMIN_REFUSED',
      faults.flatMap(({ issues }) => issues),
    );
  }
  return outcomes.flatMap((outcome) => ('issues' in outcome ? [] : [outcome]));
}

/**
 * Imports environments, sessions, runs and authoring sessions in one transaction: all of them, or none. A resource that
 * is already stored with the same content stays as it is.
 * @throws DrillproofError `server.ADMIN_REFUSED` for an invalid file or a broken reference, `server.IMPORT_CONFLICT` for
 *   an id that is stored with other content; `details.issues` lists every fault
 */
export async function importResources(
  { store }: AdminContext,
  document: unknown,
): Promise<readonly ImportedResource[]> {
  const file = typeDocument(document, { schema: importSchema, code: 'server.ADMIN_REFUSED' });
  return store.transaction((tx) => importAll(tx, listSteps(file)));
}
