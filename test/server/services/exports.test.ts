import { beforeEach, describe, expect, it } from 'vitest';
import type { EvidenceExport, LocalReportItem } from '../../../src/contract/resources/evidence.ts';
import { answerOf, inProject } from '../change.ts';
import { eachTest } from '../each-test.ts';
import { expectEnvelope } from '../envelope.ts';
import {
  ask,
  EXPORT,
  FOREIGN_PROJECT,
  id,
  ingestExport,
  ORG,
  part,
  PROJECT,
  SECOND_PROJECT,
  signer,
  token,
} from '../make.ts';

const plane = eachTest();

const base = (projectId = PROJECT, exportId = EXPORT): string =>
  inProject(`evidence-exports/${exportId}`, projectId);
const get = (path: string, bearer = plane.token) => ask(plane, path, { token: bearer });

/** Changes the stored resource of an export, as generation and deletion do. */
const change = (over: Partial<EvidenceExport>, exportId = EXPORT): Promise<void> =>
  plane.store.transaction(async (tx) => {
    const row = (await tx.exports.lock(ORG, exportId))!;
    await tx.exports.update({ ...row, resource: { ...row.resource, ...over } });
  });

const CONTENT = [
  '/manifest',
  '/export-attestation',
  `/parts/${id('evidence', 1)}`,
  '/local-reports',
  `/local-reports/${id('lrep', 1)}/archive`,
];

describe('the content of an export', () => {
  beforeEach(async () => {
    await ingestExport(plane, { parts: [await part(1)], reports: [1], key: signer() });
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

  it.each(CONTENT)('%s of a failed export answers EXPORT_FAILED', async (path) => {
    await change({ state: 'failed', failureCode: 'control.EXPORT_SOURCE_MISSING' });
    await expectEnvelope(get(base() + path), 'control.EXPORT_FAILED');
    expect((await get(base())).status).toBe(200);
  });

  it.each([`/parts/${id('evidence', 9)}`, `/local-reports/${id('lrep', 9)}/archive`])(
    '%s is missing when the export does not list it',
    async (path) => void (await expectEnvelope(get(base() + path), 'control.NOT_FOUND')),
  );

  it('an unsigned export has no attestation', async () => {
    await ingestExport(plane, { evidenceExportId: id('evexp', 3) });
    await expectEnvelope(get(`${base(PROJECT, id('evexp', 3))}/export-attestation`), 'control.NOT_FOUND');
  });
});

describe('an export of an organization', () => {
  const shared = id('evexp', 5);
  const paths = [...CONTENT, ''].map((path) => base(PROJECT, shared) + path);

  beforeEach(async () => {
    await ingestExport(plane, {
      evidenceExportId: shared,
      scope: { kind: 'organization' },
      parts: [await part(1), await part(2, { projectId: SECOND_PROJECT })],
      reports: [1],
      key: signer(),
    });
  });

  it.each(paths)(
    '%s is visible through each project of the organization, to a token that has all projects',
    async (path) => {
      const exact = await token(plane, { projects: [PROJECT, SECOND_PROJECT] });
      for (const project of [PROJECT, SECOND_PROJECT]) {
        const through = path.replace(PROJECT, project);
        for (const bearer of [plane.token, exact]) expect((await get(through, bearer)).status).toBe(200);
        await expectEnvelope(get(through, await token(plane, { projects: [project] })), 'control.NOT_FOUND');
      }
      for (const project of [FOREIGN_PROJECT, id('prj', 99)])
        await expectEnvelope(get(path.replace(PROJECT, project), plane.token), 'control.NOT_FOUND');
    },
  );

  it('the visibility of an export and of its operation depends on the projects of the token alone, in every state', async () => {
    await plane.admin.createProject({ organizationId: ORG, projectId: id('prj', 7), name: 'third' });
    const empty = id('evexp', 6);
    await ingestExport(plane, { evidenceExportId: empty, scope: { kind: 'organization' }, parts: [] });
    const scope = { kind: 'organization' as const };
    const window = { fromAtMs: 0, throughAtMs: 1 };
    const { operation, resource } = await plane.admin.createExport({ organizationId: ORG, scope, ...window });
    const everyProject = [PROJECT, SECOND_PROJECT, id('prj', 7)];
    for (const state of ['pending', 'generating', 'failed', 'available'] as const) {
      for (const exportId of [shared, empty]) await change({ state }, exportId);
      for (const projects of ['all' as const, everyProject, everyProject.slice(1), [PROJECT]]) {
        const bearer = await token(plane, { projects });
        const sees = projects === 'all' || projects.length === everyProject.length;
        for (const project of projects === 'all' ? everyProject : projects) {
          const generating = inProject(`operations/${operation.operationId}`, project);
          for (const path of [base(project, shared), base(project, empty), generating]) {
            const response = await get(path, bearer);
            if (sees) expect(response.status).toBe(200);
            else await expectEnvelope(response, 'control.NOT_FOUND');
          }
          const answer = get(inProject('evidence-exports', project), bearer);
          const { items } = await answerOf('evidence.exports.list', answer);
          const ids = items.map(({ evidenceExportId }) => evidenceExportId);
          expect(ids).toEqual(sees ? [shared, empty, resource.evidenceExportId] : []);
        }
      }
    }
  });
});

const list = (query: string) => get(`${base()}/local-reports${query}`);

async function readPages(
  limit: number,
  between: () => Promise<void> = async () => {},
): Promise<LocalReportItem[]> {
  const items: LocalReportItem[] = [];
  let cursor: string | undefined;
  do {
    const query: string = `?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
    const page = await answerOf('evidence.exports.localReports', list(query));
    items.push(...page.items);
    cursor = page.nextCursor;
    await between();
  } while (cursor !== undefined);
  return items;
}

describe('the list of local reports', () => {
  const numbers = Array.from({ length: 7 }, (_, n) => n + 1);

  beforeEach(() => ingestExport(plane, { reports: numbers }));

  it.each([1, 2, 3, 6, 7, 8, 100])('is complete and in order with pages of %i', async (limit) => {
    const items = await readPages(limit);
    expect(items.map(({ source }) => source.localReportId)).toEqual(numbers.map((n) => id('lrep', n)));
    expect(items.map(({ source }) => source.ordinal)).toEqual(numbers.map((n) => n - 1));
  });

  it('stays complete while reports and exports are added', async () => {
    let n = 100;
    const items = await readPages(2, async () => {
      n++;
      await ingestExport(plane, { evidenceExportId: id('evexp', n), reports: [n] });
    });
    expect(items.map(({ source }) => source.localReportId)).toEqual(numbers.map((i) => id('lrep', i)));
  });

  it('the list describes each local report as unattested', async () => {
    const [first] = await readPages(1);
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
    await ingestExport(plane, { evidenceExportId: other, reports: [1, 2] });
    const { nextCursor } = await answerOf('evidence.exports.localReports', list('?limit=1'));
    for (const path of [
      `${base(PROJECT, other)}/local-reports`,
      inProject('evidence-exports'),
      inProject('evidence-exports', SECOND_PROJECT),
    ])
      await expectEnvelope(get(`${path}?cursor=${nextCursor}`), 'control.CURSOR_INVALID');
    const path = `${base()}/local-reports?cursor=${nextCursor}`;
    const stranger = await token(plane, { projects: [SECOND_PROJECT] });
    await expectEnvelope(get(path, stranger), 'control.NOT_FOUND');
    await expectEnvelope(ask(plane, path), 'control.UNAUTHENTICATED');
  });
});

it('the list of exports has exactly the exports that are readable through the project, on every page', async () => {
  const visible = [1, 3, 6];
  for (let n = 1; n <= 6; n++) {
    const projectId = visible.includes(n) ? PROJECT : SECOND_PROJECT;
    const scope = { kind: 'project' as const, projectId };
    await ingestExport(plane, {
      evidenceExportId: id('evexp', n),
      scope,
      parts: [await part(n, { projectId })],
    });
  }
  const narrow = await token(plane, { projects: [PROJECT] });
  const ids: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const query: string = `?limit=1${cursor && `&cursor=${cursor}`}`;
    const page = await answerOf('evidence.exports.list', get(inProject('evidence-exports') + query, narrow));
    expect(page.items).toHaveLength(1);
    ids.push(page.items[0]!.evidenceExportId);
    cursor = page.nextCursor;
  }
  expect(ids).toEqual(visible.map((n) => id('evexp', n)));
});

it('the list of exports is empty for a project without exports', async () => {
  await plane.admin.createProject({ organizationId: ORG, projectId: id('prj', 8), name: 'empty' });
  const answer = get(inProject('evidence-exports', id('prj', 8)));
  expect(await answerOf('evidence.exports.list', answer)).toEqual({ items: [] });
});
