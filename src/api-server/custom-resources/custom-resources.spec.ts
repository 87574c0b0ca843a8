import { afterEach, expect, it } from 'vitest';
import { SystemClock, SystemRandom } from '../../base/clock/index.js';
import { silentLogger } from '../../base/logging/index.js';
import { waitFor } from '../../testing/wait-for.js';
import { Admission } from '../admission/index.js';
import { createSigningKey, ServiceAccountTokens } from '../auth/index.js';
import { createKindRegistry } from '../kinds/index.js';
import type { RegistryContext } from '../registry/index.js';
import { createSchemaRegistry } from '../schema/index.js';
import { FollowedResources, MemoryStorage, StorageUnavailableError } from '../storage/index.js';
import type { StoredObject } from '../storage/index.js';
import { SharedEvents } from '../shared-events.js';
import { CustomResources } from './custom-resources.js';

const clock = new SystemClock();
const stopper = new AbortController();
afterEach(() => stopper.abort());

/** Its first updates fail. */
class BrokenStorage extends MemoryStorage {
  failures = 2;

  override update(...args: Parameters<MemoryStorage['update']>): Promise<StoredObject<never>> {
    if (this.failures-- > 0) return Promise.reject(new StorageUnavailableError('no answer'));
    return super.update(...args) as Promise<StoredObject<never>>;
  }
}

const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com', uid: 'u', generation: 1 },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names,
    conversion: { strategy: 'None' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

it('serves what somebody else defines, though the store does not take its status at first', async () => {
  const store = new BrokenStorage({ clock });
  const followed = new FollowedResources(store, { clock, logger: silentLogger });
  const { storage } = followed;
  const kinds = createKindRegistry();
  const schemas = createSchemaRegistry();
  const base = { storage, kinds, schemas, clock, random: new SystemRandom(), logger: silentLogger };
  const context: RegistryContext = {
    ...base,
    admission: new Admission({
      ...base,
      followed,
      access: { decide: () => ({ allowed: false, reason: '' }) },
      converter: { inFormOf: (_wanted, _own, object) => Promise.resolve(object) },
    }),
    events: new SharedEvents(),
    tokens: new ServiceAccountTokens(createSigningKey(), storage, clock),
  };
  const definitions = new CustomResources({ clock, followed, kinds, schemas }, () => context);
  await followed.load();
  void followed.run(stopper.signal);
  void definitions.run(stopper.signal);
  const key = {
    resource: 'customresourcedefinitions.apiextensions.k8s.io',
    namespace: '',
    name: 'things.example.com',
  };
  await store.create(key, definition);
  await waitFor(() => kinds.find('example.com', 'v1', 'things') !== undefined);
  expect(store.failures).toBeLessThan(0);
});
