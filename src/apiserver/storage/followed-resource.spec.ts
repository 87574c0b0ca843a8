import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, SystemClock } from '../../machinery/clock/index.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { waitFor } from '../../testing/wait-for.js';
import type { FollowedObjects } from './followed-resource.js';
import { FollowedResources } from './followed-resources.js';
import { StorageExpiredError } from './errors.js';
import { MemoryStorage } from './memory-storage.js';
import type { Storage } from './storage.js';

const ROLES = 'roles.rbac.authorization.k8s.io';
const clock = new SystemClock();
const keyOf = (name: string, resource = ROLES) => ({ resource, namespace: 'a', name });
const object = (name: string, value = ''): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Role',
  metadata: { name, namespace: 'a', annotations: { value } },
});

/** The store as used by another process. */
let store: MemoryStorage;
let followed: FollowedResources;
/** This process's. */
let storage: Storage;
let roles: FollowedObjects;
let told: string[];
let stopper: AbortController;

beforeEach(() => {
  store = new MemoryStorage({ clock });
  followed = new FollowedResources(store, { clock, logger: silentLogger });
  ({ storage } = followed);
  roles = followed.objects(ROLES);
  told = [];
  followed.of(ROLES).onChange(({ name }, state) => told.push(state ? name : `-${name}`));
  stopper = new AbortController();
});

afterEach(() => stopper.abort());

/** `undefined`: it is not known. */
const valueOf = (name: string): string | undefined => {
  const known = roles.get('a', name);
  return known && (known.metadata.annotations?.value ?? '');
};

function follow(): void {
  void followed.run(stopper.signal);
}

describe('A followed resource', () => {
  it('knows every write of its own process as soon as it has been answered, and of its resource alone', async () => {
    const { revision } = await storage.create(keyOf('r'), object('r', '1'));
    expect(valueOf('r')).toBe('1');
    const updated = await storage.update(keyOf('r'), object('r', '2'), revision);
    expect(valueOf('r')).toBe('2');
    await storage.delete(keyOf('r'), updated.revision);
    expect(valueOf('r')).toBeUndefined();
    await storage.create(keyOf('p', 'pods'), object('p'));
    expect(roles.list('a')).toEqual([]);
  });

  it('knows what was there, and what others write and remove, and reports nothing twice', async () => {
    await store.create(keyOf('old'), object('old'));
    follow();
    await storage.create(keyOf('own'), object('own'));
    const { revision } = await store.create(keyOf('theirs'), object('theirs'));
    await waitFor(() => roles.list('a').length === 3);
    await store.delete(keyOf('theirs'), revision);
    await waitFor(() => roles.list('a').length === 2);
    expect(told.sort()).toEqual(['-theirs', 'old', 'own', 'theirs']);
    expect(roles.list('b')).toEqual([]);
  });

  it('does not bring back what its process has removed when the watch reports its earlier state late', async () => {
    await followed.load();
    const { revision } = await storage.create(keyOf('r'), object('r'));
    await storage.delete(keyOf('r'), revision);
    follow();
    await store.create(keyOf('last'), object('last'));
    await waitFor(() => valueOf('last') !== undefined);
    expect(told).toEqual(['r', '-r', 'last']);
  });

  it('does not bring back what the watch has shown to be gone when its earlier state is reported late', async () => {
    await followed.load();
    follow();
    const { object: before, revision } = await store.create(keyOf('r'), object('r'));
    await store.delete(keyOf('r'), revision);
    await waitFor(() => told.includes('-r'));
    followed.of(ROLES).tell(keyOf('r'), before, revision);
    expect(valueOf('r')).toBeUndefined();
  });

  it('does not believe older news of a state than what it knows', async () => {
    const old = await storage.create(keyOf('r'), object('r', 'old'));
    await storage.update(keyOf('r'), object('r', 'new'), old.revision);
    followed.of(ROLES).tell(keyOf('r'), old.object, old.revision);
    expect(valueOf('r')).toBe('new');
  });

  it('keeps an object that was made again when the removal of the one before is reported late', async () => {
    const first = await storage.create(keyOf('r'), object('r', 'first'));
    const removed = await store.delete(keyOf('r'), first.revision);
    await storage.create(keyOf('r'), object('r', 'second'));
    followed.of(ROLES).tell(keyOf('r'), undefined, removed.revision);
    expect(valueOf('r')).toBe('second');
  });

  it('forgets when it reads again what is there no more', async () => {
    const { revision } = await store.create(keyOf('r'), object('r'));
    await followed.load();
    expect(valueOf('r')).toBe('');
    await store.delete(keyOf('r'), revision);
    await followed.load();
    expect(valueOf('r')).toBeUndefined();
  });

  it('keeps what its process writes and removes while it reads', async () => {
    const { revision } = await store.create(keyOf('old'), object('old'));
    const loading = followed.load();
    await storage.create(keyOf('new'), object('new'));
    await storage.delete(keyOf('old'), revision);
    await loading;
    expect(valueOf('new')).toBe('');
    expect(valueOf('old')).toBeUndefined();
  });

  it('is read again when the store was replaced', async () => {
    await store.create(keyOf('before'), object('before'));
    await followed.load();
    follow();
    async function* records() {
      yield { key: keyOf('after'), object: object('after') };
    }
    await store.replaceAll(records());
    await waitFor(() => valueOf('after') !== undefined);
    await waitFor(() => valueOf('before') === undefined);
  });

  it('takes over what is looked up before the watch shows it', async () => {
    await followed.load();
    await store.create(keyOf('r'), object('r', '1'));
    expect(valueOf('r')).toBeUndefined();
    expect(await roles.lookUp('a', 'r')).toMatchObject(object('r', '1'));
    expect(valueOf('r')).toBe('1');
    expect(await roles.lookUp('a', 'other')).toBeUndefined();
  });

  it('is one for all who ask for it', async () => {
    const others = followed.objects(ROLES);
    await storage.create(keyOf('r'), object('r'));
    expect(others.get('a', 'r')).toBe(roles.get('a', 'r'));
    expect(told).toEqual(['r']);
  });

  it('shows watchers nothing that is no object of its name, and it again when it has been put right', async () => {
    const bad = await store.create(keyOf('bad'), object('another'));
    const worse = {
      ...object('worse'),
      metadata: { ...object('worse').metadata, ownerReferences: 5 as never },
    };
    await store.create(keyOf('worse'), worse);
    await store.create(keyOf('sound'), object('sound'));
    await store.update(keyOf('bad'), object('bad'), bad.revision);
    const shown: string[] = [];
    for await (const events of storage.watch({ resource: ROLES, after: bad.revision - 1 }, stopper.signal)) {
      for (const event of events) if (event.type !== 'progress') shown.push(event.object.metadata.name);
      if (shown.includes('bad')) break;
    }
    expect(shown).toEqual(['sound', 'bad']);
  });

  it('does not read its objects in a hot loop from a store whose watches end at once, for any reason', async () => {
    for (const reason of [undefined, new StorageExpiredError(1, 'compacted'), new Error('broken')]) {
      const fake = new FakeClock();
      let watches = 0;
      const ending: Storage = Object.assign(Object.create(store) as Storage, {
        watch: async function* () {
          watches += 1;
          yield* [];
          if (reason) throw reason;
        },
      });
      const following = new FollowedResources(ending, { clock: fake, logger: silentLogger });
      following.of(ROLES);
      const stop = new AbortController();
      const running = following.run(stop.signal);
      await fake.advance(60_000);
      stop.abort();
      await running;
      expect(watches).toBeGreaterThan(10);
      expect(watches).toBeLessThan(60);
    }
  });
});
