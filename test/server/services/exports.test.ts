import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  evidenceExportPageSchema,
  localReportPageSchema,
  type EvidenceExport,
  type LocalReportItem,
} from '../../../src/contract/index.ts';
import { expectEnvelope } from '../envelope.ts';
import {
  ask,
  EXPORT,
  id,
  ingestedExport,
  ORG,
  part,
  PROJECT,
  SECOND_PROJECT,
  signer,
  tenants,
  token,
  world,
  type World,
} from '../make.ts';

let plane: World;
let all: string;

/** One control plane for the tests of a describe. */
function inWorld(setUp: () => Promise<unknown>): void {
  beforeAll(async () => {
    plane = await world();
    await tenants(plane);
    all = await token(plane);
    await setUp();
  });
  afterAll(() => plane.close());
}

const base = (projectId = PROJECT, exportId = EXPORT): string =>
  `/v1/projects/${projectId}/evidence-exports/${exportId}`;
const get = (path: string, bearer = all) => ask(plane, path, { token: bearer });

/** Changes the stored resource of the export, as generation and deletion will. */
async function change(over: Partial<EvidenceExport>): Promise<void> {
  await plane.store.transaction(async (tx) => {
    const row = (await tx.exports.find(ORG, EXPORT))!;
    await tx.exports.update({ ...row, resource: { ...row.resource, ...over } });
  });
}

const CONTENT = [
  '/manifest',
  '/export-attestation',
  `/parts/${id('evidence', 1)}`,
  '/local-reports',
  `/local-reports/${id('lrep', 1)}/archive`,
];

describe('the content of an export', () => {
  let untouched: EvidenceExport;
  inWorld(async () => {
    const made = await ingestedExport(plane, { parts: [await part(1)], reports: [1], key: signer() });
    untouched = made.resource;
  });
  afterEach(() =>
    plane.store.transaction(async (tx) => {
      await tx.exports.update({ ...(await tx.exports.find(ORG, EXPORT))!, resource: untouched });
    }),
  );

  it.each(CONTENT)('%s answers 200 when the export is available', async (path) => {
    expect((await get(base() + path)).status).toBe(200);
  });

  it.each(CONTENT)('%s answers EXPORT_NOT_READY while the export is generated', async (path) => {
    for (const state of ['pending', 'generating'] as const) {
      await change({ state });
      const response = await get(base() + path);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      const { retryAfterMs } = await expectEnvelope(response, 'control.EXPORT_NOT_READY');
      expect(retryAfterMs).toBeGreaterThan(0);
      expect((await get(base())).status).toBe(200);
    }
  });

  it.each(CONTENT)('%s of a failed export is refused for good', async (path) => {
    await change({ state: 'failed', failureCode: 'control.EXPORT_SOURCE_MISSING' });
    await expectEnvelope(get(base() + path), 'control.EXPORT_FAILED');
    expect((await get(base())).status).toBe(200);
  });

  it.each([`/parts/${id('evidence', 9)}`, `/local-reports/${id('lrep', 9)}/archive`])(
    '%s is missing when it is not listed',
    async (path) => {
      await expectEnvelope(get(base() + path), 'control.NOT_FOUND');
    },
  );

  it('has no attestation when it is unsigned', async () => {
    await ingestedExport(plane, { evidenceExportId: id('evexp', 3) });
    const response = await get(`${base(PROJECT, id('evexp', 3))}/export-attestation`);
    await expectEnvelope(response, 'control.NOT_FOUND');
  });
});

describe('an export of an organization', () => {
  const both = id('evexp', 5);
  const paths = [...CONTENT, ''].map((path) => `${base(PROJECT, both)}${path}`);

  inWorld(async () => {
    await ingestedExport(plane, {
      evidenceExportId: both,
      scope: { kind: 'organization' },
      parts: [await part(1), await part(2, { projectId: SECOND_PROJECT })],
      reports: [1],
      key: signer(),
    });
  });

  it.each(paths)('%s is visible through each project to a token that has all of them', async (path) => {
    const exact = await token(plane, { projects: [PROJECT, SECOND_PROJECT] });
    for (const through of [path, path.replace(PROJECT, SECOND_PROJECT)]) {
      expect((await get(through)).status).toBe(200);
      expect((await get(through, exact)).status).toBe(200);
    }
  });

  it.each(paths)('%s is missing for a token that has one of them only', async (path) => {
    for (const project of [PROJECT, SECOND_PROJECT]) {
      const narrow = await token(plane, { projects: [project] });
      await expectEnvelope(get(path.replace(PROJECT, project), narrow), 'control.NOT_FOUND');
    }
  });

  it('the visibility of an export and of its operation depends on the projects of the token alone, in every state', async () => {
    await plane.admin.createProject({ organizationId: ORG, projectId: id('prj', 7), name: 'third' });
    const empty = id('evexp', 6);
    await ingestedExport(plane, { evidenceExportId: empty, scope: { kind: 'organization' }, parts: [] });
    const scope = { kind: 'organization' as const };
    const request = { organizationId: ORG, scope, fromAtMs: 0, throughAtMs: 1 };
    const { operation } = await plane.admin.createExport(request);
    const generating = `/v1/projects/${PROJECT}/operations/${operation.operationId}`;
    const named = [PROJECT, SECOND_PROJECT, id('prj', 7)];
    for (const state of ['pending', 'generating', 'failed', 'available'] as const) {
      for (const each of [both, empty])
        await plane.store.transaction(async (tx) => {
          const row = (await tx.exports.lock(ORG, each))!;
          await tx.exports.update({ ...row, resource: { ...row.resource, state } });
        });
      for (const projects of ['all' as const, named, named.slice(1), [PROJECT]]) {
        const bearer = await token(plane, { projects });
        const sees = projects === 'all' || projects.length === named.length;
        for (const project of projects === 'all' ? named : projects) {
          for (const path of [
            base(project, both),
            base(project, empty),
            generating.replace(PROJECT, project),
          ]) {
            const response = await get(path, bearer);
            if (sees) expect(response.status).toBe(200);
            else await expectEnvelope(response, 'control.NOT_FOUND');
          }
          const page = await (await get(`/v1/projects/${project}/evidence-exports`, bearer)).json();
          const ids = evidenceExportPageSchema.parse(page).items.map((item) => item.evidenceExportId);
          expect(ids.filter((each) => each === both || each === empty)).toEqual(sees ? [both, empty] : []);
        }
      }
    }
  });
});

const list = (query: string) => get(`${base()}/local-reports${query}`);

async function pages(
  limit: number,
  between: () => Promise<void> = async () => {},
): Promise<LocalReportItem[]> {
  const items: LocalReportItem[] = [];
  let cursor: string | undefined;
  do {
    const response = await list(`?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
    const page = localReportPageSchema.parse(await response.json());
    items.push(...page.items);
    cursor = page.nextCursor;
    await between();
  } while (cursor !== undefined);
  return items;
}

describe('the list of local reports', () => {
  const numbers = Array.from({ length: 7 }, (_, n) => n + 1);

  inWorld(() => ingestedExport(plane, { reports: numbers }));

  it.each([1, 2, 3, 6, 7, 8, 100])('is complete and in order with pages of %i', async (limit) => {
    const items = await pages(limit);
    expect(items.map(({ source }) => source.localReportId)).toEqual(numbers.map((n) => id('lrep', n)));
    expect(items.map(({ source }) => source.ordinal)).toEqual(numbers.map((n) => n - 1));
  });

  it('stays complete while reports and exports are added', async () => {
    let n = 100;
    const items = await pages(2, async () => {
      n++;
      await ingestedExport(plane, { evidenceExportId: id('evexp', n), reports: [n] });
    });
    expect(items.map(({ source }) => source.localReportId)).toEqual(
      numbers.map((number) => id('lrep', number)),
    );
  });

  it('the list describes each local report as unattested', async () => {
    const [first] = await pages(1);
    expect(first?.source.provenance).toEqual({
      origin: 'user_produced',
      trust: 'unattested',
      uploadedBy: 'a person',
    });
    const archive = await get(`${base()}/local-reports/${first?.archive.localReportId}/archive`);
    const bytes = new Uint8Array(await archive.arrayBuffer());
    expect(String(bytes.length)).toBe(first?.archive.bytes);
    expect(archive.headers.get('etag')).toBe(`"${first?.archive.digest}"`);
  });

  it('a cursor of another export, project or list is refused and grants nothing', async () => {
    const other = id('evexp', 2);
    await ingestedExport(plane, { evidenceExportId: other, reports: [1, 2] });
    const { nextCursor } = localReportPageSchema.parse(await (await list('?limit=1')).json());
    const query = `?cursor=${nextCursor}`;
    await expectEnvelope(get(`${base(PROJECT, other)}/local-reports${query}`), 'control.CURSOR_INVALID');
    await expectEnvelope(get(`/v1/projects/${PROJECT}/evidence-exports${query}`), 'control.CURSOR_INVALID');
    await expectEnvelope(
      get(`/v1/projects/${SECOND_PROJECT}/evidence-exports${query}`),
      'control.CURSOR_INVALID',
    );
    const stranger = await token(plane, { projects: [SECOND_PROJECT] });
    await expectEnvelope(get(`${base()}/local-reports${query}`, stranger), 'control.NOT_FOUND');
    await expectEnvelope(ask(plane, `${base()}/local-reports${query}`), 'control.UNAUTHENTICATED');
  });
});

describe('the list of exports', () => {
  inWorld(async () => {});

  it('the list of exports has exactly the exports that are readable through the project, on every page', async () => {
    const mine = [1, 3, 6].map((n) => id('evexp', n));
    for (let n = 1; n <= 6; n++) {
      const projectId = mine.includes(id('evexp', n)) ? PROJECT : SECOND_PROJECT;
      const parts = [await part(n, { projectId })];
      await ingestedExport(plane, {
        evidenceExportId: id('evexp', n),
        scope: { kind: 'project', projectId },
        parts,
      });
    }
    const narrow = await token(plane, { projects: [PROJECT] });
    const seen: string[] = [];
    let cursor = '';
    for (let n = 0; n < 10; n++) {
      const response = await get(`/v1/projects/${PROJECT}/evidence-exports?limit=1${cursor}`, narrow);
      const page = evidenceExportPageSchema.parse(await response.json());
      expect(page.items).toHaveLength(1);
      seen.push(...page.items.map((item) => item.evidenceExportId));
      if (page.nextCursor === undefined) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    expect(seen).toEqual(mine);
  });

  it('the list of exports is empty for a project without exports', async () => {
    await plane.admin.createProject({ organizationId: ORG, projectId: id('prj', 8), name: 'empty' });
    const response = await get(`/v1/projects/${id('prj', 8)}/evidence-exports`);
    expect(await response.json()).toEqual({ items: [] });
  });
});
