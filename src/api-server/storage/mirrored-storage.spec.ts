import { beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../base/clock/index.js';
import { silentLogger } from '../../base/logging/index.js';
import { waitFor } from '../../testing/wait-for.js';
import { MemoryStorage } from './memory-storage.js';
import { mirroredStorage, ResourceMirror } from './mirrored-storage.js';
import type { Storage } from './storage.js';

const clock = new SystemClock();
const key = (name: string, resource = 'roles') => ({ resource, namespace: 'a', name });
const object = (name: string, value = '') => ({
  apiVersion: 'v1',
  kind: 'Role',
  metadata: { name, namespace: 'a', annotations: { value } },
});

let store: MemoryStorage;
let mirror: ResourceMirror;
let storage: Storage;
let known: Map<string, string>;
let told: string[];

beforeEach(() => {
  store = new MemoryStorage({ clock });
  known = new Map();
  told = [];
  mirror = new ResourceMirror({
    resource: 'roles',
    clock,
    logger: silentLogger,
    onChange: ({ name }, state) => {
      told.push(name);
      if (state) known.set(name, state.metadata.annotations?.value ?? '');
      else known.delete(name);
    },
  });
  storage = mirroredStorage(store, [mirror]);
});

describe('a mirror', () => {
  it('knows every write of its own storage as soon as it has been answered, and of its resource alone', async () => {
    const { revision } = await storage.create(key('r'), object('r', '1'));
    expect(known.get('r')).toBe('1');
    const updated = await storage.update(key('r'), object('r', '2'), revision);
    expect(known.get('r')).toBe('2');
    await storage.delete(key('r'), updated.revision);
    expect(known.has('r')).toBe(false);
    await storage.create(key('p', 'pods'), object('p'));
    expect(known.size).toBe(0);
  });

  it('knows the writes of others by the watch, and is told nothing twice', async () => {
    await store.create(key('old'), object('old'));
    const stop = new AbortController();
    const run = mirror.run(storage, stop.signal);
    await storage.create(key('own'), object('own'));
    const { revision } = await store.create(key('theirs'), object('theirs'));
    await waitFor(() => known.size === 3);
    await store.delete(key('theirs'), revision);
    await waitFor(() => known.size === 2);
    expect(told.sort()).toEqual(['old', 'own', 'theirs', 'theirs']);
    stop.abort();
    await run;
  });

  it('does not bring back what was removed when the watch tells of it late', async () => {
    const { revision } = await storage.create(key('r'), object('r'));
    await storage.delete(key('r'), revision);
    mirror.tell(key('r'), object('r'), revision);
    expect(known.has('r')).toBe(false);
  });

  it('forgets at a new list what is there no more', async () => {
    await mirror.load(store);
    const { revision } = await store.create(key('r'), object('r'));
    await mirror.load(store);
    expect(known.has('r')).toBe(true);
    await store.delete(key('r'), revision);
    await mirror.load(store);
    expect(known.has('r')).toBe(false);
  });
});
