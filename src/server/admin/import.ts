import * as z from 'zod';
import { canonicalJson } from '../../bytes/index.ts';
import {
  authoringSessionSchema,
  digestSchema,
  environmentIdSchema,
  hostedRunSchema,
  msSchema,
  organizationIdSchema,
  positiveIntegerSchema,
  projectIdSchema,
  schemaVersionSchema,
  worldSessionSchema,
} from '../../contract/index.ts';
import { brokenDocument, type DocumentIssue, typeDocument } from '../../evidence/index.ts';
import type { InProject, Tx } from '../store/store.ts';
import { nameSchema, type AdminContext } from './context.ts';

/** An environment as the store holds it; the API has no resource for it. */
const environmentSchema = z.strictObject({
  organizationId: organizationIdSchema,
  projectId: projectIdSchema,
  environmentId: environmentIdSchema,
  name: nameSchema,
  buildHash: digestSchema.exactOptional(),
  version: positiveIntegerSchema,
  createdAtMs: msSchema,
  updatedAtMs: msSchema,
});

/** What `admin import` reads: worlds, runs and conversations that other systems made. */
export const importSchema = z.strictObject({
  schemaVersion: schemaVersionSchema,
  environments: z.array(environmentSchema).default([]),
  sessions: z.array(worldSessionSchema).default([]),
  runs: z.array(hostedRunSchema).default([]),
  authoringSessions: z.array(authoringSessionSchema).default([]),
});
export type ImportDocument = z.input<typeof importSchema>;

/** A resource after an import. `unchanged`: the same resource was already stored. */
export type ImportedResource = {
  readonly type: 'environment' | 'session' | 'run' | 'authoring_session';
  readonly projectId: string;
  readonly id: string;
  readonly result: 'created' | 'unchanged';
};

type Entry = Omit<ImportedResource, 'result'> & {
  readonly organizationId: string;
  /** JSON pointer of the resource in the file. */
  readonly path: string;
  readonly document: object;
  /** The document that is stored under its id. */
  readonly read: (tx: Tx) => Promise<object | undefined>;
  /** What contradicts another resource; the pointers are relative to the resource. */
  readonly check?: (tx: Tx) => Promise<readonly DocumentIssue[]>;
  readonly insert: (tx: Tx) => Promise<void>;
};

type Imported<K extends Exclude<keyof ImportDocument, 'schemaVersion'>> = z.output<
  typeof importSchema
>[K][number];

const inProject = ({ organizationId, projectId }: InProject): InProject => ({ organizationId, projectId });

const environmentEntry = (row: Imported<'environments'>, n: number): Entry => ({
  ...inProject(row),
  type: 'environment',
  id: row.environmentId,
  path: `/environments/${n}`,
  document: row,
  read: (tx) => tx.environments.find(row.projectId, row.environmentId),
  insert: (tx) => tx.environments.insert(row),
});

const sessionEntry = (resource: Imported<'sessions'>, n: number): Entry => ({
  ...inProject(resource),
  type: 'session',
  id: resource.sessionId,
  path: `/sessions/${n}`,
  document: resource,
  read: async (tx) => (await tx.sessions.find(resource.projectId, resource.sessionId))?.resource,
  check: async (tx) => {
    const environment = await tx.environments.find(resource.projectId, resource.environmentId);
    return environment === undefined
      ? [{ path: '/environmentId', message: `the project has no environment ${resource.environmentId}` }]
      : [];
  },
  insert: (tx) => tx.sessions.insert({ ...inProject(resource), sessionId: resource.sessionId, resource }),
});

const runEntry = (resource: Imported<'runs'>, n: number): Entry => ({
  ...inProject(resource),
  type: 'run',
  id: resource.hostedRunId,
  path: `/runs/${n}`,
  document: resource,
  read: async (tx) => (await tx.runs.find(resource.projectId, resource.hostedRunId))?.resource,
  check: async (tx) => [...(await checkSessionOfRun(tx, resource)), ...checkIdentity(resource)],
  insert: (tx) => tx.runs.insert({ ...inProject(resource), hostedRunId: resource.hostedRunId, resource }),
});

async function checkSessionOfRun(tx: Tx, run: Imported<'runs'>): Promise<readonly DocumentIssue[]> {
  const session = await tx.sessions.find(run.projectId, run.sessionId);
  if (session === undefined)
    return [{ path: '/sessionId', message: `the project has no session ${run.sessionId}` }];
  const { environmentId } = session.resource;
  if (environmentId === run.environmentId) return [];
  return [{ path: '/environmentId', message: `the session belongs to environment ${environmentId}` }];
}

/** The identity is compared when the run is repeated, so it must be that of the result. */
function checkIdentity({ identity, result }: Imported<'runs'>): readonly DocumentIssue[] {
  if (identity === undefined || result === undefined) return [];
  if (canonicalJson(identity) === canonicalJson(result.identity)) return [];
  return [{ path: '/identity', message: 'identity does not match the identity in the result' }];
}

const authoringEntry = (resource: Imported<'authoringSessions'>, n: number): Entry => ({
  ...inProject(resource),
  type: 'authoring_session',
  id: resource.authoringSessionId,
  path: `/authoringSessions/${n}`,
  document: resource,
  read: async (tx) =>
    (await tx.authoringSessions.find(resource.projectId, resource.authoringSessionId))?.resource,
  // A session waits until its active turn ends, and nothing would ever end a turn that is not stored.
  check: async (tx) => {
    const { projectId, activeTurnId } = resource;
    return activeTurnId === undefined || (await tx.turns.find(projectId, activeTurnId)) !== undefined
      ? []
      : [{ path: '/activeTurnId', message: `the project has no turn ${activeTurnId}` }];
  },
  insert: (tx) =>
    tx.authoringSessions.insert({
      ...inProject(resource),
      authoringSessionId: resource.authoringSessionId,
      resource,
    }),
});

/** Every resource after those that it refers to. */
const entriesOf = (file: z.output<typeof importSchema>): readonly Entry[] => [
  ...file.environments.map(environmentEntry),
  ...file.sessions.map(sessionEntry),
  ...file.runs.map(runEntry),
  ...file.authoringSessions.map(authoringEntry),
];

async function checkProject(tx: Tx, { organizationId, projectId }: Entry): Promise<readonly DocumentIssue[]> {
  const project = await tx.projects.find(projectId);
  if (project === undefined) return [{ path: '/projectId', message: `no project ${projectId}` }];
  if (project.organizationId === organizationId) return [];
  return [{ path: '/organizationId', message: `the project belongs to ${project.organizationId}` }];
}

async function checkEntry(tx: Tx, entry: Entry): Promise<readonly DocumentIssue[]> {
  const issues = await checkProject(tx, entry);
  // Without its project, a resource has nothing that it could refer to.
  return issues.length > 0 ? issues : ((await entry.check?.(tx)) ?? []);
}

/** The outcome for one resource; an import with any fault is undone. */
type Outcome =
  | ImportedResource
  | {
      readonly code: 'server.ADMIN_REFUSED' | 'server.IMPORT_CONFLICT';
      readonly issues: readonly DocumentIssue[];
    };

async function importEntry(tx: Tx, entry: Entry): Promise<Outcome> {
  const { type, projectId, id, path, document } = entry;
  const stored = await entry.read(tx);
  if (stored !== undefined) {
    if (canonicalJson(stored) === canonicalJson(document))
      return { type, projectId, id, result: 'unchanged' };
    return {
      code: 'server.IMPORT_CONFLICT',
      issues: [{ path, message: `${id} is stored with other content` }],
    };
  }
  const issues = await checkEntry(tx, entry);
  if (issues.length > 0)
    return {
      code: 'server.ADMIN_REFUSED',
      issues: issues.map((issue) => ({ ...issue, path: `${path}${issue.path}` })),
    };
  await entry.insert(tx);
  return { type, projectId, id, result: 'created' };
}

/** Runs in the transaction of the import: what it throws undoes every insert. */
async function importEntries(tx: Tx, entries: readonly Entry[]): Promise<ImportedResource[]> {
  const outcomes: Outcome[] = [];
  for (const entry of entries) outcomes.push(await importEntry(tx, entry));
  const faults = outcomes.flatMap((outcome) => ('issues' in outcome ? [outcome] : []));
  if (faults.length > 0) {
    const isConflict = faults.every(({ code }) => code === 'server.IMPORT_CONFLICT');
    throw brokenDocument(
      isConflict ? 'server.IMPORT_CONFLICT' : 'server.ADMIN_REFUSED',
      faults.flatMap(({ issues }) => issues),
    );
  }
  return outcomes.flatMap((outcome) => ('issues' in outcome ? [] : [outcome]));
}

/**
 * Imports environments, sessions, runs and authoring sessions in one transaction: all of them, or none. A resource that
 * is already stored with the same content stays as it is.
 * @throws DrillproofError `server.ADMIN_REFUSED` for a file that breaks its format or names what does not exist,
 *   `server.IMPORT_CONFLICT` for an id that is stored with other content; `details.issues` lists every fault
 */
export async function importResources(
  { store }: AdminContext,
  document: unknown,
): Promise<readonly ImportedResource[]> {
  const file = typeDocument(document, { schema: importSchema, code: 'server.ADMIN_REFUSED' });
  return store.transaction((tx) => importEntries(tx, entriesOf(file)));
}
