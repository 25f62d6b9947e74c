/**
 * The transactions that an extension needs, on the bare store with its flushes, for two seconds: read a session, change
 * it, insert an operation and a record of the answer. Prints how many per second.
 *
 *     node bare-store.ts sqlite FILE
 *     node bare-store.ts postgres URL
 */
import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'pg';

const [, , kind = '', place = ''] = process.argv;
const SECONDS = 2;
const SESSIONS = 256;
const BODY = JSON.stringify({ body: 'x'.repeat(500) });
const TABLES = `
  CREATE TABLE bare_sessions (id INTEGER PRIMARY KEY, version INTEGER, body TEXT);
  CREATE TABLE bare_operations (id TEXT PRIMARY KEY, body TEXT);
  CREATE TABLE bare_answers (id TEXT PRIMARY KEY, body TEXT);`;
const STATEMENTS = [
  'SELECT body FROM bare_sessions WHERE id = $1',
  'UPDATE bare_sessions SET version = version + 1, body = $2 WHERE id = $1',
  'INSERT INTO bare_operations VALUES ($1, $2)',
  'INSERT INTO bare_answers VALUES ($1, $2)',
] as const;
const [SELECT, UPDATE, OPERATION, ANSWER] = STATEMENTS;

let count = 0;
const startMs = performance.now();
const isOver = (): boolean => performance.now() - startMs > SECONDS * 1000;

function runSqlite(): void {
  const database = new DatabaseSync(place);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${TABLES}`);
  const insert = database.prepare('INSERT INTO bare_sessions VALUES (?, 1, ?)');
  for (let n = 0; n < SESSIONS; n++) insert.run(n, BODY);
  const [select, update, operation, answer] = STATEMENTS.map((text) =>
    database.prepare(text.replaceAll(/\$(?=\d)/g, '?')),
  ) as [ReturnType<typeof database.prepare>, ...ReturnType<typeof database.prepare>[]];
  for (; !isOver(); count++) {
    database.exec('BEGIN IMMEDIATE');
    select.get(count % SESSIONS);
    update!.run(count % SESSIONS, BODY);
    operation!.run(`op-${count}`, BODY);
    answer!.run(`key-${count}`, BODY);
    database.exec('COMMIT');
  }
}

async function runPostgres(): Promise<void> {
  const pool = new Pool({ connectionString: place, max: 10 });
  await pool.query(`DROP TABLE IF EXISTS bare_sessions, bare_operations, bare_answers; ${TABLES}`);
  for (let n = 0; n < SESSIONS; n++)
    await pool.query('INSERT INTO bare_sessions VALUES ($1, 1, $2)', [n, BODY]);
  const work = async (): Promise<void> => {
    const client = await pool.connect();
    while (!isOver()) {
      const n = count++;
      await client.query('BEGIN');
      await client.query({ name: 'select', text: SELECT, values: [n % SESSIONS] });
      await client.query({ name: 'update', text: UPDATE, values: [n % SESSIONS, BODY] });
      await client.query({ name: 'operation', text: OPERATION, values: [`op-${n}`, BODY] });
      await client.query({ name: 'answer', text: ANSWER, values: [`key-${n}`, BODY] });
      await client.query('COMMIT');
    }
    client.release();
  };
  await Promise.all(Array.from({ length: 10 }, work));
  await pool.end();
}

if (kind === 'sqlite') runSqlite();
else await runPostgres();
console.log(`${(count / (performance.now() - startMs)) * 1000} per second`);
