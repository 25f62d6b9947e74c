import { execFile } from 'node:child_process';
import { appendFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { id, ORG, part, PROJECT } from '../../server/make.ts';
import { startPostgres } from '../../support/postgres.ts';
import { drillproof, useScratch } from '../make.ts';

const dir = useScratch();
const postgres = await startPostgres({
  settings: ['archive_mode=on', 'archive_command=mkdir -p archive && cp %p archive/%f'],
});
const { folder } = postgres;
const [base, lost] = [`${folder}.base`, `${folder}.lost`];
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);
/** Writes a file that belongs to the user of PostgreSQL. */
async function write(path: string, text: string): Promise<void> {
  await copy(join(base, 'PG_VERSION'), path);
  await writeFile(path, text);
}

/** Copies the files of the running server, as pg_basebackup does. */
async function backUp(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_backup_start('test', true)");
  await copy(folder, base);
  const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
  await client.end();
  await write(join(base, 'backup_label'), rows[0]!.labelfile);
  await write(join(base, 'recovery.signal'), '');
}

/** Replaces the files of a server that was lost by those of the copy, which then follows the log until a time. */
async function restore(untilTime: string): Promise<void> {
  await postgres.stop('SIGKILL');
  await rename(folder, lost);
  await rename(base, folder);
  const settings = {
    restore_command: `cp ${lost}/archive/%f %p`,
    recovery_target_time: untilTime,
    recovery_target_action: 'promote',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(folder, 'postgresql.auto.conf'), lines.join(''));
  await postgres.start();
}

it('a database that was restored to a time has the rows of that time, and restore-check names what ended since', async () => {
  const url = await postgres.database();
  const ask = async (sql: string) => Object.values((await postgres.query(url, sql))[0]!)[0];
  const env = { DATABASE_URL: url };
  const admin = (line: string) => drillproof(`admin ${line} --data ${dir.path('data')} --json`, { env });
  const adminJson = async (line: string): Promise<any> => {
    const { code, stdout, stderr } = await admin(line);
    expect([line, code, code === 0 ? '' : stderr]).toEqual([line, 0, '']);
    return JSON.parse(stdout);
  };
  const createToken = async (): Promise<string> =>
    (await adminJson(`token create --organization ${ORG} --project ${PROJECT}`)).tokenId;

  await adminJson(`org create --id ${ORG} --name test`);
  await adminJson(`project create --organization ${ORG} --id ${PROJECT} --name test`);
  const [before, after] = [await createToken(), await createToken()];
  await backUp(url);
  await writeFile(dir.path('part.zip'), await part(1));
  await adminJson(`ingest bundle ${dir.path('part.zip')} --project ${PROJECT}`);
  await adminJson(`token revoke ${before}`);
  await sleep(50);
  const time = String(await ask('SELECT now()::text'));
  await sleep(50);
  await adminJson(`token revoke ${after}`);
  await adminJson(`delete bundle ${id('evidence', 1)} --project ${PROJECT}`);
  const segment = String(await ask('SELECT pg_walfile_name(pg_switch_wal())'));
  const isArchived = `SELECT last_archived_wal >= '${segment}' FROM pg_stat_archiver`;
  await expect.poll(() => ask(isArchived)).toBe(true);

  await restore(time);
  await expect.poll(() => ask('SELECT pg_is_in_recovery()').catch(String)).toBe(false);
  const { code, stdout } = await admin('restore-check');
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    {
      findings: [
        { code: 'server.RESTORED_TOKEN', id: after },
        { code: 'server.RESTORED_EVIDENCE', id: id('evidence', 1) },
      ],
    },
  ]);
  expect(await adminJson('check')).toMatchObject({ intact: 1, findings: [] });
});
