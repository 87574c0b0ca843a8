import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/clock/index.js';
import type { Namespace } from '../../base/kubernetes/index.js';
import { silentLogger } from '../../base/logging/index.js';
import { createKindRegistry } from '../kinds/index.js';
import { MemoryStorage } from '../storage/index.js';
import { NamespaceLifecycle } from './namespace-lifecycle.js';

const kinds = createKindRegistry();
const pods = kinds.find('', 'v1', 'pods')!;
const nodes = kinds.find('', 'v1', 'nodes')!;

function aNamespace(name: string, phase: 'Active' | 'Terminating'): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, status: { phase } };
}

function setUp() {
  const clock = new FakeClock();
  const storage = new MemoryStorage({ clock });
  const put = (namespace: Namespace) =>
    storage.create({ resource: 'namespaces', namespace: '', name: namespace.metadata.name }, namespace);
  return { storage, put, lifecycle: new NamespaceLifecycle(storage, clock, silentLogger) };
}

describe('NamespaceLifecycle', () => {
  it('lets objects into a namespace that it has to look up', async () => {
    const { put, lifecycle } = setUp();
    await put(aNamespace('a', 'Active'));
    await expect(lifecycle.admitCreate(pods, 'a', 'p')).resolves.toBeUndefined();
  });

  it('refuses objects in a namespace that does not exist', async () => {
    await expect(setUp().lifecycle.admitCreate(pods, 'a', 'p')).rejects.toThrow('namespaces "a" not found');
  });

  it('refuses objects in a namespace that is going away, from the moment that it is told', async () => {
    const { storage, put, lifecycle } = setUp();
    const { revision } = await put(aNamespace('a', 'Active'));
    await lifecycle.admitCreate(pods, 'a', 'p');
    const key = { resource: 'namespaces', namespace: '', name: 'a' };
    const { object } = await storage.update(key, aNamespace('a', 'Terminating'), revision);
    lifecycle.observe(object);
    await expect(lifecycle.admitCreate(pods, 'a', 'p')).rejects.toThrow(/because it is being terminated/);
  });

  it('does not believe older news', async () => {
    const { lifecycle } = setUp();
    const seen = (phase: 'Active' | 'Terminating', resourceVersion: string) => {
      const namespace = aNamespace('a', phase);
      namespace.metadata.resourceVersion = resourceVersion;
      lifecycle.observe(namespace);
    };
    seen('Terminating', '9');
    seen('Active', '8');
    await expect(lifecycle.admitCreate(pods, 'a', 'p')).rejects.toThrow(/because it is being terminated/);
  });

  it('does not ask for the namespace of what has none', async () => {
    await expect(setUp().lifecycle.admitCreate(nodes, '', 'n')).resolves.toBeUndefined();
  });
});
