import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allFields, steepFields } from '../support/growth/steep-fields.js';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer();
});
afterAll(() => api.stop());

// One request of a user holds up all others while it is processed, because they share a thread.
describe('the cost of a request grows no faster than', () => {
  it('each list and map of the built-in types', async () => {
    const steep = await steepFields(api, allFields(), [
      { sort: 'list', method: 'create', variety: 'different' },
      { sort: 'map', method: 'create', variety: 'different' },
    ]);
    expect(steep).toEqual([]);
  });

  it('each text of the built-in types', async () => {
    expect(await steepFields(api, allFields(), [{ sort: 'text', method: 'create', unit: 'a' }])).toEqual([]);
  });
});
