import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, SystemClock, SystemRandom } from '../../../../machinery/clock/index.js';
import type { Clock } from '../../../../machinery/clock/index.js';
import { silentLogger } from '../../../../machinery/logging/index.js';
import { waitFor } from '../../../../testing/wait-for.js';
import { Admission } from '../../../access/admission/index.js';
import { createSigningKey, ServiceAccountTokens } from '../../../access/auth/index.js';
import { createKindRegistry } from '../../../kinds/index.js';
import type { RegistryContext } from '../../../objects/registry/index.js';
import { createSchemaRegistry } from '../../../schema/index.js';
import { FollowedResources, MemoryStorage, StorageUnavailableError } from '../../../storage/index.js';
import type { StoredObject } from '../../../storage/index.js';
import { SharedEvents } from '../../../objects/registry/shared-events.js';
import { CustomResources } from './custom-resources.js';

const system = new SystemClock();
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

async function startOn(store: MemoryStorage, clock: Clock = system) {
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
  const store = new BrokenStorage({ clock: system });
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
    const store = new MemoryStorage({ clock: system });
    const { name } = await plantDeleted(store, plural);
    await startOn(store);
    await waitFor(async () => (await store.list(DEFINITIONS)).items.length === 0);
    expect((await store.list(name)).items).toHaveLength(left);
  });
});

describe('a deleted definition', () => {
  const NAME = 'things.example.com';
  const KEY = { resource: DEFINITIONS, namespace: '', name: NAME };

  /** Its objects cannot be deleted. */
  class StuckStorage extends MemoryStorage {
    attempts = 0;
    isStuck = true;

    override delete(...args: Parameters<MemoryStorage['delete']>): Promise<StoredObject> {
      if (args[0].resource !== NAME || !this.isStuck) return super.delete(...args);
      this.attempts++;
      return Promise.reject(new StorageUnavailableError('no answer'));
    }
  }

  async function plantDeleted(store: MemoryStorage, spec: object, finalizers?: string[]): Promise<void> {
    const metadata = {
      ...definition.metadata,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['customresourcecleanup.apiextensions.k8s.io'],
    };
    const conditions = [{ type: 'Established', status: 'True' }];
    const status = { acceptedNames: names, storedVersions: ['v1'], conditions };
    await store.create(KEY, {
      ...definition,
      metadata,
      spec: { ...definition.spec, ...spec },
      status,
    } as never);
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'a', namespace: 'default', uid: 'a', ...(finalizers && { finalizers }) },
    };
    await store.create({ resource: NAME, namespace: 'default', name: 'a' }, object);
  }

  const terminating = async (store: MemoryStorage): Promise<unknown> => {
    const found = (await store.get(KEY))?.object as
      { status?: { conditions?: { type: string }[] } } | undefined;
    return found?.status?.conditions?.find(({ type }) => type === 'Terminating');
  };

  async function pass(clock: FakeClock, seconds: number): Promise<void> {
    for (let tenth = 0; tenth < seconds * 10; tenth++) await clock.advance(100);
  }

  it.each([
    ['without a schema', { versions: [{ name: 'v1', served: true, storage: true }] }],
    ['with another scope than there are', { scope: 'Galaxy' }],
    [
      'with a schema that is none',
      { versions: [{ ...definition.spec.versions[0], schema: { openAPIV3Schema: { type: 'banana' } } }] },
    ],
  ])('goes with its objects, whatever is wrong with it in the store: %s', async (_case, spec) => {
    const store = new MemoryStorage({ clock: system });
    await plantDeleted(store, spec);
    await startOn(store);
    await waitFor(async () => (await store.list(DEFINITIONS)).items.length === 0);
    expect((await store.list(NAME)).items).toEqual([]);
  });

  it('is tried less and less often while its objects cannot be deleted, and says why', async () => {
    const clock = new FakeClock();
    const store = new StuckStorage({ clock });
    await plantDeleted(store, {});
    await startOn(store, clock);
    await pass(clock, 300);
    // The first; nine after 0.2 s, 0.4 s … 51.2 s, which are 102.2 s; then one each minute.
    expect(store.attempts).toBe(1 + 9 + 3);
    expect(await terminating(store)).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionFailed',
      message: expect.stringContaining('could not issue all deletes: ') as string,
    });
    store.isStuck = false;
    await pass(clock, 61);
    expect((await store.list(DEFINITIONS)).items).toEqual([]);
  });

  it('says that it waits for finalizers of its objects', async () => {
    const clock = new FakeClock();
    const store = new MemoryStorage({ clock });
    await plantDeleted(store, {}, ['example.com/never']);
    await startOn(store, clock);
    await pass(clock, 70);
    expect(await terminating(store)).toMatchObject({ status: 'True', reason: 'InstanceDeletionCheck' });
    expect((await store.list(NAME)).items).toHaveLength(1);
  });
});
