import { describe } from 'vitest';
import { openPostgresStore } from '../../../src/server/store/postgres.ts';
import { testPostgres } from '../../support/postgres.ts';
import { storeSuite } from './suite.ts';

const postgres = await testPostgres();

describe.skipIf(postgres === undefined)('PostgreSQL', () => {
  storeSuite('the PostgreSQL store', async () => {
    const url = await postgres!.database();
    return { open: () => openPostgresStore(url), remove: async () => undefined };
  });
});
