import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ApiClient } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { KubernetesObject, Kind } from '../../../machinery/kubernetes/index.js';
import { FakeCluster, refusal } from '../../../testing/fake-cluster.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import * as builtIn from '../../../machinery/kubernetes/built-in-kinds.js';
import { ConfigMap, Deployment, Pod, Secret, untyped } from '../../../machinery/kubernetes/index.js';
import { defineKind } from '../kinds/kinds.js';
import { setControllerReference } from './owners.js';
import type { Scale } from '../kinds/subresources.js';
import { retryOnConflict, serverSideApply, patchStatus } from './write-objects.js';

interface Website extends KubernetesObject {
  spec: { host: string };
  status?: { ready?: boolean; url?: string };
}
const Website = defineKind<Website>({ group: 'example.com', version: 'v1', kind: 'Website' });

/** Compiled, and never called. */
export function typesOf(client: ApiClient, deployment: Deployment): void {
  const ref = { namespace: 'default', name: 'web' };
  expectTypeOf(client.get(Deployment, ref)).resolves.toEqualTypeOf<Deployment>();
  expectTypeOf(client.get(Website, ref)).resolves.toEqualTypeOf<Website>();
  expectTypeOf(client.list(Pod)).resolves.toHaveProperty('items').toEqualTypeOf<readonly Pod[]>();
  expectTypeOf(client.patch(Website, ref, { type: 'merge', body: {} })).resolves.toEqualTypeOf<Website>();
  expectTypeOf(client.create(Deployment, deployment)).resolves.toEqualTypeOf<Deployment>();
  // The caller names the type of the objects of a type without them.
  expectTypeOf(client.get(untyped(Deployment), ref)).resolves.toEqualTypeOf<KubernetesObject>();
  expectTypeOf(client.get<Deployment>(untyped(Deployment), ref)).resolves.toEqualTypeOf<Deployment>();
  expectTypeOf(client.create(untyped(Deployment), deployment)).resolves.toEqualTypeOf<Deployment>();
  expectTypeOf(
    client.get<Scale>(untyped(Deployment), ref, { subresource: 'scale' }),
  ).resolves.toEqualTypeOf<Scale>();
  // @ts-expect-error a ConfigMap is no Deployment, although all its fields are optional
  void client.create(ConfigMap, deployment);
  // @ts-expect-error a Deployment is no Secret
  void client.update(Secret, deployment);
  // @ts-expect-error a Deployment is no PodDisruptionBudget
  void client.create(builtIn.PodDisruptionBudget, deployment);
  // @ts-expect-error the kind is another
  void client.get<Deployment>(Pod, ref);
  // @ts-expect-error no such field
  void client.create(Website, { apiVersion: 'example.com/v1', kind: 'Website', metadata: ref, spec: {} });
  // @ts-expect-error no such field of the status
  void patchStatus(client, Website, ref, { color: 'red' });
  // Objects of other libraries say their kind, or nothing of it.
  void client.create(ConfigMap, { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, metadata: ref });
}

describe('the built-in kinds', () => {
  it('are all of the API, each of the newest version', () => {
    const kinds = Object.entries<Kind>(builtIn as unknown as Record<string, Kind>);
    expect(kinds.length).toBeGreaterThanOrEqual(40);
    for (const [name, kind] of kinds) expect(kind.kind).toBe(name);
    expect(builtIn.HorizontalPodAutoscaler).toMatchObject({ group: 'autoscaling', version: 'v2' });
    expect(builtIn.ClusterRole).toMatchObject({ resource: 'clusterroles', namespaced: false });
    expect(builtIn.NetworkPolicy.namespaced).toBe(true);
  });
});

describe('retryOnConflict', () => {
  const conflict = refusal(409, 'Conflict', 'the object has been modified');

  it('tries again where a write met another one, a few times', async () => {
    const clock = new FakeClock();
    let calls = 0;
    const eventually = retryOnConflict(
      async () => {
        if (++calls < 3) throw conflict;
        return 'written';
      },
      { clock },
    );
    await clock.advance(100);
    expect(await eventually).toBe('written');
    const never = retryOnConflict(() => (++calls, Promise.reject(conflict)), { clock, attempts: 2 });
    const outcome = never.catch((error: unknown) => error);
    await clock.advance(100);
    expect(await outcome).toBe(conflict);
    expect(calls).toBe(5);
  });

  it('lets any other failure pass, and stops with its signal', async () => {
    await expect(retryOnConflict(() => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    const signal = AbortSignal.abort(new Error('stopping'));
    await expect(retryOnConflict(async () => 1, { signal })).rejects.toThrow('stopping');
  });
});

describe('owners', () => {
  it('are of the same namespace, or of none, where an object is applied with one too', () => {
    const owner = aDeployment({});
    Object.assign(owner.metadata, { namespace: 'a', uid: 'u' });
    const foreign = { metadata: { namespace: 'b', name: 'x' } };
    const client = new FakeCluster();
    expect(() => serverSideApply(client, ConfigMap, foreign, { fieldManager: 'test', owner })).toThrow(
      'owner.metadata.namespace: an owner in a cannot own an object in b',
    );
    const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } };
    expect(() => setControllerReference(owner, object)).toThrow('without a namespace');
  });
});
