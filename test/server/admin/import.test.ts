import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { faultsOf, missedFaults, schemaOf } from '../../docs/schema-of.ts';
import {
  makeAuthoringSession,
  ENVIRONMENT,
  makeEnvironment,
  FOREIGN_PROJECT,
  HASH,
  id,
  OTHER_ORG,
  PROJECT,
  makeRun,
  SECOND_PROJECT,
  makeSession,
  importWorlds,
} from '../make.ts';
import { expectRefused, thrownBy } from '../thrown.ts';
import { eachTest } from '../each-test.ts';

type ImportFile = object | string | null | undefined;

const plane = eachTest();

const makeEverything = () => ({
  schemaVersion: 1 as const,
  environments: [makeEnvironment()],
  sessions: [makeSession(1)],
  runs: [makeRun(1)],
  authoringSessions: [makeAuthoringSession(1)],
});
const readExample = () =>
  JSON.parse(readFileSync('docs/examples/import.json', 'utf8')) as {
    schemaVersion: 1;
    runs: [ReturnType<typeof makeRun>];
  };

const [CONFLICT, REFUSED] = ['server.IMPORT_CONFLICT', 'server.ADMIN_REFUSED'];

/** The code of a refused import, and then the JSON pointers of its faults. */
async function readFaults(file: ImportFile): Promise<string[]> {
  const { code, details } = await thrownBy(plane.admin.importResources(file));
  const issues = details?.['issues'] as { path: string }[];
  return [code, ...issues.map(({ path }) => path)];
}

const isEmpty = async (): Promise<boolean> =>
  [
    await plane.store.environments.find(PROJECT, ENVIRONMENT),
    await plane.store.sessions.find(PROJECT, id('ses', 1)),
    await plane.store.runs.find(PROJECT, id('hrun', 1)),
    await plane.store.authoringSessions.find(PROJECT, id('authsess', 1)),
  ].every((row) => row === undefined);

it('an import stores the example of the documentation unchanged, and a second one changes nothing', async () => {
  const file = readExample();
  const tenant = { organizationId: 'org_0123456789ab', name: 'Acme' };
  await plane.admin.createOrganization(tenant);
  await plane.admin.createProject({ ...tenant, projectId: 'prj_0123456789ab', name: 'web' });
  const types = ['environment', 'session', 'run', 'authoring_session'];
  const created = await plane.admin.importResources(file);
  expect(created.map(({ type }) => type)).toEqual(types);
  const stored = await plane.store.runs.find('prj_0123456789ab', 'hrun_0123456789ab');
  expect(stored?.resource).toEqual(file.runs[0]);
  const unchanged = created.map((resource) => ({ ...resource, result: 'unchanged' }));
  expect(await plane.admin.importResources(file)).toEqual(unchanged);
});

it('the published schema accepts the example and refuses every damaged copy of it', () => {
  const schema = schemaOf('import');
  expect(faultsOf(schema, readExample())).toEqual([]);
  expect(missedFaults(schema, [readExample()])).toEqual([]);
});

it('an import of an empty file stores nothing', async () => {
  expect(await plane.admin.importResources({ schemaVersion: 1 })).toEqual([]);
});

it('an import stores new resources next to unchanged ones', async () => {
  await importWorlds(plane);
  const file = { schemaVersion: 1, environments: [makeEnvironment()], sessions: [makeSession(2)] };
  expect(await plane.admin.importResources(file)).toMatchObject([
    { type: 'environment', id: ENVIRONMENT, result: 'unchanged' },
    { type: 'session', id: id('ses', 2), result: 'created' },
  ]);
});

it('an import resolves references within its file in any order of the lists', async () => {
  const { environments, sessions, ...rest } = makeEverything();
  expect(await plane.admin.importResources({ ...rest, sessions, environments })).toHaveLength(4);
});

it('an import reports an id that is stored with other content as a conflict and stores nothing', async () => {
  await importWorlds(plane);
  const environments = [makeEnvironment({ version: 2 })];
  const sessions = [makeSession(1, { seed: '2' }), makeSession(2)];
  const faults = await readFaults({ schemaVersion: 1, environments, sessions });
  expect(faults).toEqual([CONFLICT, '/environments/0', '/sessions/0']);
  expect(await plane.store.sessions.find(PROJECT, id('ses', 2))).toBeUndefined();
});

it('an import reports two resources of its file with the same id and other content as a conflict', async () => {
  const sessions = [makeSession(1), makeSession(1), makeSession(1, { version: 2 })];
  expect(await readFaults({ ...makeEverything(), sessions })).toEqual([CONFLICT, '/sessions/2']);
  expect(await isEmpty()).toBe(true);
});

it('simultaneous imports of one file create each resource once', async () => {
  const all = await Promise.all(
    Array.from({ length: 4 }, () => plane.admin.importResources(makeEverything())),
  );
  expect(all.flat().filter(({ result }) => result === 'created')).toHaveLength(4);
});

it('an import reports every fault of the format with its JSON pointer and stores nothing', async () => {
  const file = {
    ...makeEverything(),
    extra: 1,
    environments: [makeEnvironment({ name: '' }), makeEnvironment({ environmentId: 'env_x' })],
    sessions: [makeSession(1, { scenarioId: 'flood' })],
  };
  const paths = ['', '/environments/0/name', '/environments/1/environmentId', '/sessions/0/scenarioId'];
  expect(new Set(await readFaults(file))).toEqual(new Set([REFUSED, ...paths]));
  expect(await isEmpty()).toBe(true);
});

it('an import reports every broken reference with its JSON pointer and stores nothing', async () => {
  const file = {
    schemaVersion: 1,
    environments: [
      makeEnvironment(),
      makeEnvironment({ environmentId: id('env', 2) }),
      makeEnvironment({ projectId: id('prj', 99) }),
      makeEnvironment({ projectId: FOREIGN_PROJECT }),
      makeEnvironment({ organizationId: OTHER_ORG, environmentId: id('env', 3) }),
    ],
    sessions: [
      makeSession(1),
      makeSession(2, { environmentId: id('env', 9) }),
      makeSession(3, { projectId: SECOND_PROJECT }),
    ],
    runs: [makeRun(1, { sessionId: id('ses', 9) }), makeRun(2, { environmentId: id('env', 2) })],
    authoringSessions: [makeAuthoringSession(1, { activeTurnId: 'authturn_x' })],
  };
  expect(await readFaults(file)).toEqual([
    REFUSED,
    '/environments/2/projectId',
    '/environments/3/organizationId',
    '/environments/4/organizationId',
    '/sessions/1/environmentId',
    '/sessions/2/environmentId',
    '/runs/0/sessionId',
    '/runs/1/environmentId',
    '/authoringSessions/0/activeTurnId',
  ]);
  expect(await isEmpty()).toBe(true);
});

it('an import refuses a run whose identity differs from the identity in its result', async () => {
  const [{ identity, result }] = readExample().runs;
  const runs = [makeRun(1, { identity: { ...identity!, seed: '2' }, result: result! })];
  expect(await readFaults({ ...makeEverything(), runs })).toEqual([REFUSED, '/runs/0/identity']);
});

it('an import reports a conflict and a broken reference together as refused', async () => {
  await importWorlds(plane);
  const environments = [makeEnvironment({ version: 2 })];
  const runs = [makeRun(3, { sessionId: id('ses', 9) })];
  const faults = await readFaults({ schemaVersion: 1, environments, runs });
  expect(faults).toEqual([REFUSED, '/environments/0', '/runs/0/sessionId']);
});

it.each([undefined, null, [], 'text', {}, { schemaVersion: 2 }])('an import of %j is refused', (file) =>
  expectRefused(plane.admin.importResources(file)),
);

it('an import accepts an environment without a build and one with a build that is not stored', async () => {
  const { buildHash: _buildHash, ...empty } = makeEnvironment({ environmentId: id('env', 2) });
  await plane.admin.importResources({ schemaVersion: 1, environments: [makeEnvironment(), empty] });
  expect((await plane.store.environments.find(PROJECT, ENVIRONMENT))?.buildHash).toBe(HASH);
  expect(await plane.store.environments.find(PROJECT, id('env', 2))).toEqual(empty);
});
