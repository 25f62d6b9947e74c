/**
 * Our control plane as `drillproof serve` runs it, without its limit of 100 requests per second for each token; and
 * small servers that check nothing: JSON by id from memory, with node:http or bare Hono, or from SQLite or PostgreSQL
 * with one query for each request; or files.
 *
 *     node server.ts PORT plane DATA
 *     node server.ts PORT json|hono|sqlite|postgres RESOURCES.json
 *     node server.ts PORT files FOLDER
 */
import { createReadStream, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { Pool } from 'pg';

const [, , port = '', kind = '', source = ''] = process.argv;
const SMALL = 256 * 1024;

function readResources(): Map<string, unknown> {
  const { sessions } = JSON.parse(readFileSync(source, 'utf8')) as { sessions: { sessionId: string }[] };
  return new Map(sessions.map((session) => [session.sessionId, session]));
}

const TABLE = 'CREATE TABLE bare_read (id text PRIMARY KEY, body text)';
const INSERT = 'INSERT INTO bare_read VALUES ($1, $2)';
const MARK = /\$[0-9]/g; // SQLite takes it for a name
const READ = 'SELECT body FROM bare_read WHERE id = $1';

async function fillTable(pool: Pool): Promise<void> {
  await pool.query(TABLE);
  for (const [id, session] of readResources()) await pool.query(INSERT, [id, JSON.stringify(session)]);
}

function answer(response: ServerResponse, body: string): void {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  response.writeHead(200, headers).end(body);
}

const LISTENERS: Readonly<Record<string, () => RequestListener>> = {
  json() {
    const resources = readResources();
    return ({ url = '' }, response) =>
      answer(response, JSON.stringify(resources.get(url.slice(url.lastIndexOf('/') + 1))));
  },
  hono() {
    const resources = readResources();
    const app = new Hono();
    app.get('/v1/projects/:projectId/sessions/:sessionId', (context) =>
      context.json(resources.get(context.req.param('sessionId')) as object),
    );
    const listener = getRequestListener(app.fetch);
    return (request, response) => void listener(request, response);
  },
  sqlite() {
    const database = new DatabaseSync(`${source}.bare.sqlite`);
    database.exec(`PRAGMA journal_mode = WAL; ${TABLE}`);
    const insert = database.prepare(INSERT.replaceAll(MARK, '?'));
    for (const [id, session] of readResources()) insert.run(id, JSON.stringify(session));
    const statement = database.prepare(READ.replaceAll(MARK, '?'));
    return ({ url = '' }, response) =>
      answer(response, String(statement.get(url.slice(url.lastIndexOf('/') + 1))?.['body']));
  },
  postgres() {
    const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
    const ready = fillTable(pool);
    const read = async (id: string): Promise<string> => {
      await ready;
      const { rows } = await pool.query<{ body: string }>({ name: 'read', text: READ, values: [id] });
      return rows[0]!.body;
    };
    return ({ url = '' }, response) =>
      void read(url.slice(url.lastIndexOf('/') + 1)).then((body) => answer(response, body));
  },
  files() {
    return (request, response) => {
      const path = join(source, request.url ?? '');
      const { size } = statSync(path);
      response.writeHead(200, { 'content-type': 'application/zip', 'content-length': size });
      if (size <= SMALL) void readFile(path).then((bytes) => response.end(bytes));
      else pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), response, () => undefined);
    };
  },
};

async function servePlane(): Promise<void> {
  const plane = await import('drillproof/server');
  const { store, blobs } = await plane.openStores(process.env, source);
  const sink = openSync('/dev/null', 'w');
  let lines = '';
  const flush = (): void => {
    writeSync(sink, lines);
    lines = '';
  };
  // The command writes the lines of one turn together too.
  const write = (line: string): void => {
    if (lines === '') setImmediate(flush);
    lines += line;
  };
  const log = plane.createLog({ level: 'info', format: 'json', write, now: Date.now });
  const limits = { requestsPerSecond: 1e6, requestBurst: 1e6, downloadsPerSecond: 1e6, downloadBurst: 1e6 };
  await plane.listen(plane.createServer({ store, blobs, limits, log }), { port: Number(port), log });
}

if (kind === 'plane') await servePlane();
else createServer(LISTENERS[kind]!()).listen(Number(port), '127.0.0.1');
