import { expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { runStorageRanges } from '../../testing/storage-ranges.js';
import { MemoryStorage } from './memory-storage.js';
import { ViewedStorage } from './viewed-storage.js';

const RESOURCE = 'widgets.example.com';
const runs = propertyRuns({ gate: 15, nightly: 100 });

function viewOf(storage: MemoryStorage): ViewedStorage {
  return new ViewedStorage(storage, {
    resource: RESOURCE,
    toStored: (object) => ({ ...object, stored: true }),
    fromStored: ({ stored: _stored, ...object }) => object,
  });
}

it(`a view shows nothing outside the range that was asked for (SEED=${runs.seed})`, async () => {
  await runStorageRanges({ make: async () => viewOf(new MemoryStorage()), resources: [RESOURCE], ...runs });
});

it('a view has the secret of its store', async () => {
  const storage = new MemoryStorage();
  expect(await viewOf(storage).secret()).toEqual(await storage.secret());
});
