import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
let stopper: AbortController;
beforeEach(() => {
  stopper = new AbortController();
});
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

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io';

async function startOn(store: MemoryStorage) {
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
  return { kinds };
}

it('serves what somebody else defines, though the store does not take its status at first', async () => {
  const store = new BrokenStorage({ clock });
  const { kinds } = await startOn(store);
  const key = {
    resource: DEFINITIONS,
    namespace: '',
    name: 'things.example.com',
  };
  await store.create(key, definition);
  await waitFor(() => kinds.find('example.com', 'v1', 'things') !== undefined);
  expect(store.failures).toBeLessThan(0);
});

describe('a definition in the group of built-in kinds, which an older release took', () => {
  const GROUP = 'networking.k8s.io';

  /** As the older release left it: served, with an object, and deleted. */
  async function plantDeleted(store: MemoryStorage, plural: string) {
    const name = `${plural}.${GROUP}`;
    const own = { plural, singular: 'x', kind: 'X', listKind: 'XList' };
    const metadata = {
      ...{ name, uid: 'u', generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z' },
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
      annotations: { 'api-approved.kubernetes.io': 'unapproved' },
    };
    const versions = [{ ...definition.spec.versions[0], name: 'v9' }];
    const spec = { ...definition.spec, group: GROUP, names: own, versions };
    const conditions = [{ type: 'Established', status: 'True' }];
    const status = { acceptedNames: own, storedVersions: ['v9'], conditions };
    await store.create({ resource: DEFINITIONS, namespace: '', name }, { ...definition, metadata, spec, status } as never);
    const object = { apiVersion: `${GROUP}/v1`, kind: 'X', metadata: { name: 'a', namespace: 'default' } };
    await store.create({ resource: name, namespace: 'default', name: 'a' }, object);
    return { name };
  } // prettier-ignore

  it.each([
    ['leaves the objects of the built-in kind of its name alone when it goes', 'networkpolicies', 1],
    ['takes objects with it that no built-in kind could be of', 'things', 0],
  ])('%s', async (_name, plural, left) => {
    const store = new MemoryStorage({ clock });
    const { name } = await plantDeleted(store, plural);
    await startOn(store);
    await waitFor(async () => (await store.list(DEFINITIONS)).items.length === 0);
    expect((await store.list(name)).items).toHaveLength(left);
  });
});
