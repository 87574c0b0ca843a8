import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { customFields, defineThings } from '../support/growth/custom-fields.js';
import { definitionFields } from '../support/growth/definition-fields.js';
import { allFields, growingOf, steepFields, steepOf } from '../support/growth/steep-fields.js';
import type { Way } from '../support/growth/steep-fields.js';
import { WRITE_METHODS } from '../support/growth/write.js';
import type { WriteMethod } from '../support/growth/write.js';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer();
  await defineThings(api);
});
afterAll(() => api.stop());

function waysBy(method: WriteMethod): Way[] {
  return [
    { sort: 'list', method, variety: 'different' },
    { sort: 'map', method, variety: 'different' },
    { sort: 'text', method, unit: 'a' },
  ];
}

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

  // Each night, each field is sent in all ways.
  it('each field of the built-in types that is sent in one of the other ways, in turn', async () => {
    const others = WRITE_METHODS.filter((method) => method !== 'create');
    const waysOf = (index: number): Way[] => waysBy(others[index % others.length]!);
    expect(await steepOf(api, growingOf(allFields()), waysOf)).toEqual([]);
  });

  it('each part of a definition that is looked up in another', async () => {
    const ways: Way[] = [{ sort: 'list', method: 'create', variety: 'different' }];
    expect(await steepOf(api, definitionFields(), () => ways)).toEqual([]);
  });

  it('each field of a custom resource, in each way that it is sent', async () => {
    const methods = WRITE_METHODS.filter((method) => method !== 'protobuf' && method !== 'strategic');
    const ways = methods.flatMap(waysBy);
    expect(await steepOf(api, customFields(), () => ways)).toEqual([]);
  });
});
