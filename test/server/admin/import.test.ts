import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
import { thrownBy } from '../thrown.ts';
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

/** The code and the JSON pointers of the faults of an import. */
async function readRefusal(file: ImportFile): Promise<{ code: string; paths: unknown[] }> {
  const { code, details } = await thrownBy(plane.admin.importResources(file));
  const issues = details?.['issues'] as { path: string }[];
  return { code, paths: issues.map(({ path }) => path) };
}

const importAndList = async (file: ImportFile): Promise<unknown[]> =>
  (await plane.admin.importResources(file)).map(({ type, id: importedId, result }) => [
    type,
    importedId,
    result,
  ]);

const isEmpty = async (): Promise<boolean> =>
  [
    await plane.store.environments.find(PROJECT, ENVIRONMENT),
    await plane.store.sessions.find(PROJECT, id('ses', 1)),
    await plane.store.runs.find(PROJECT, id('hrun', 1)),
    await plane.store.authoringSessions.find(PROJECT, id('authsess', 1)),
  ].every((row) => row === undefined);

describe('the import of resources', () => {
  it('stores the example of the documentation unchanged, and a second import changes nothing', async () => {
    const file = readExample();
    const tenant = { organizationId: 'org_0123456789ab', name: 'Acme' };
    await plane.admin.createOrganization(tenant);
    await plane.admin.createProject({ ...tenant, projectId: 'prj_0123456789ab', name: 'web' });
    const types = ['environment', 'session', 'run', 'authoring_session'];
    expect((await importAndList(file)).map((row) => (row as string[])[0])).toEqual(types);
    const stored = await plane.store.runs.find('prj_0123456789ab', 'hrun_0123456789ab');
    expect(stored?.resource).toEqual(file.runs[0]);
    expect((await plane.admin.importResources(file)).map(({ result }) => result)).toEqual(
      types.map(() => 'unchanged'),
    );
  });

  it('the published schema accepts the example and refuses every damaged copy of it', () => {
    const schema = schemaOf('import');
    expect(faultsOf(schema, readExample())).toEqual([]);
    expect(missedFaults(schema, [readExample()])).toEqual([]);
  });

  it('an import of an empty file stores nothing', async () => {
    expect(await importAndList({ schemaVersion: 1 })).toEqual([]);
  });

  it('stores new resources next to unchanged ones', async () => {
    await importWorlds(plane);
    const file = { schemaVersion: 1, environments: [makeEnvironment()], sessions: [makeSession(2)] };
    expect(await importAndList(file)).toEqual([
      ['environment', ENVIRONMENT, 'unchanged'],
      ['session', id('ses', 2), 'created'],
    ]);
  });

  it('resolves references within the file in any order of its lists', async () => {
    const { environments, sessions, ...rest } = makeEverything();
    expect(await importAndList({ ...rest, sessions, environments })).toHaveLength(4);
  });

  it('reports an id that is stored with other content as a conflict and stores nothing', async () => {
    await importWorlds(plane);
    const [environments, sessions] = [
      [makeEnvironment({ version: 2 })],
      [makeSession(1, { seed: '2' }), makeSession(2)],
    ];
    const paths = ['/environments/0', '/sessions/0'];
    expect(await readRefusal({ schemaVersion: 1, environments, sessions })).toEqual({
      code: CONFLICT,
      paths,
    });
    expect(await plane.store.sessions.find(PROJECT, id('ses', 2))).toBeUndefined();
  });

  it('reports two resources of one file with the same id and other content as a conflict', async () => {
    const sessions = [makeSession(1), makeSession(1), makeSession(1, { version: 2 })];
    expect(await readRefusal({ ...makeEverything(), sessions })).toEqual({
      code: CONFLICT,
      paths: ['/sessions/2'],
    });
    expect(await isEmpty()).toBe(true);
  });

  it('simultaneous imports of one file create each resource once', async () => {
    const all = await Promise.all(
      Array.from({ length: 4 }, () => plane.admin.importResources(makeEverything())),
    );
    expect(all.flat().filter(({ result }) => result === 'created')).toHaveLength(4);
  });

  it('reports every fault of the format with its JSON pointer and stores nothing', async () => {
    const file = {
      ...makeEverything(),
      extra: 1,
      environments: [
        makeEnvironment(),
        makeEnvironment({ name: '' }),
        makeEnvironment({ environmentId: 'env_x' }),
      ],
      sessions: [makeSession(1, { scenarioId: 'flood' })],
    };
    const { code, paths } = await readRefusal(file);
    expect(code).toBe(REFUSED);
    expect(new Set(paths)).toEqual(
      new Set(['', '/environments/1/name', '/environments/2/environmentId', '/sessions/0/scenarioId']),
    );
    expect(await isEmpty()).toBe(true);
  });

  it('reports every broken reference with its JSON pointer and stores nothing', async () => {
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
    expect(await readRefusal(file)).toEqual({
      code: REFUSED,
      paths: [
        '/environments/2/projectId',
        '/environments/3/organizationId',
        '/environments/4/organizationId',
        '/sessions/1/environmentId',
        '/sessions/2/environmentId',
        '/runs/0/sessionId',
        '/runs/1/environmentId',
        '/authoringSessions/0/activeTurnId',
      ],
    });
    expect(await isEmpty()).toBe(true);
  });

  it('refuses a run whose identity differs from the identity in its result', async () => {
    const [ended] = readExample().runs;
    const { identity, result } = ended;
    const contradiction = makeRun(1, { identity: { ...identity!, seed: '2' }, result: result! });
    const paths = ['/runs/0/identity'];
    expect(await readRefusal({ ...makeEverything(), runs: [contradiction] })).toEqual({
      code: REFUSED,
      paths,
    });
  });

  it('reports a conflict and a broken reference together as refused', async () => {
    await importWorlds(plane);
    const environments = [makeEnvironment({ version: 2 })];
    const runs = [makeRun(3, { sessionId: id('ses', 9) })];
    const paths = ['/environments/0', '/runs/0/sessionId'];
    expect(await readRefusal({ schemaVersion: 1, environments, runs })).toEqual({ code: REFUSED, paths });
  });

  it.each([undefined, null, [], 'text', {}, { schemaVersion: 2 }])(
    'an import of %j is refused',
    async (file) => {
      expect((await readRefusal(file)).code).toBe(REFUSED);
    },
  );

  it('accepts an environment without a build and one with a build that is not stored', async () => {
    const { buildHash: _buildHash, ...empty } = makeEnvironment({ environmentId: id('env', 2) });
    await plane.admin.importResources({ schemaVersion: 1, environments: [makeEnvironment(), empty] });
    expect((await plane.store.environments.find(PROJECT, ENVIRONMENT))?.buildHash).toBe(HASH);
    expect(await plane.store.environments.find(PROJECT, id('env', 2))).toEqual(empty);
  });
});
