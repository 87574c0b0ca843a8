import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiServer } from '../integration/api-server-harness.js';
import type { RunningApiServer } from '../integration/api-server-harness.js';
import type { Way } from '../support/growth/steep-fields.js';
import { WRITE_METHODS } from '../support/growth/write.js';
import { allFields, steepFields } from '../support/growth/steep-fields.js';

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer();
});
afterAll(() => api.stop());

const WAYS: readonly Way[] = WRITE_METHODS.flatMap((method): Way[] => [
  ...(['list', 'map'] as const).flatMap((sort): Way[] => [
    { sort, method, variety: 'equal' },
    { sort, method, variety: 'different' },
  ]),
  ...[' ', '1', 'a.', '/', '-', '{{', '$(', '::', '%', "'", '*', '\n'].map((unit): Way => ({
    sort: 'text',
    method,
    unit,
  })),
]);

it.each(WAYS)('the cost of a request grows no faster than each field: %j', async (way) => {
  expect(await steepFields(api, allFields(), [way])).toEqual([]);
});
