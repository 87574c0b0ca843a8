import { describe, expect, it } from 'vitest';
import type { Namespace } from '../../../../machinery/kubernetes/index.js';
import { admittedPod, creationOf, followedOf, kinds, refusalOf } from '../admission.fixture.js';
import { SERVER } from '../attributes.js';
import { admitByNamespace } from './namespace-lifecycle.js';

function aNamespace(name: string, phase: 'Active' | 'Terminating'): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, status: { phase } };
}

describe('NamespaceLifecycle', () => {
  it('lets objects into a namespace that it has to look up', async () => {
    const { followed, storage } = await followedOf<Namespace>('namespaces');
    await storage.create({ resource: 'namespaces', namespace: '', name: 'a' }, aNamespace('a', 'Active'));
    await expect(admitByNamespace(creationOf(admittedPod()), followed)).resolves.toBeUndefined();
  });

  it('refuses objects in a namespace that does not exist', async () => {
    const { followed } = await followedOf<Namespace>('namespaces');
    expect(await refusalOf(() => admitByNamespace(creationOf(admittedPod()), followed))).toBe(
      'namespaces "a" not found',
    );
  });

  it('refuses objects in a namespace that is going away', async () => {
    const { followed } = await followedOf('namespaces', aNamespace('a', 'Terminating'));
    expect(await refusalOf(() => admitByNamespace(creationOf(admittedPod()), followed))).toBe(
      'pods "p" is forbidden: unable to create new content in namespace a because it is being terminated',
    );
  });

  it('lets no one delete the namespaces that must stay', async () => {
    const { followed } = await followedOf<Namespace>('namespaces');
    const deletion = (name: string) => ({
      operation: 'DELETE' as const,
      kind: kinds.find('', 'v1', 'namespaces')!,
      subresource: '',
      namespace: '',
      name,
      dryRun: false,
      caller: SERVER,
    });
    expect(await refusalOf(() => admitByNamespace(deletion('kube-system'), followed))).toBe(
      'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    );
    expect(await refusalOf(() => admitByNamespace(deletion('shop'), followed))).toBeUndefined();
  });
});
