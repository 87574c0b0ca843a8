import { describe, expect, it } from 'vitest';
import { Deployment, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../testing/fake-informers.js';
import { findDeployment } from './find-deployment.js';

/** A replica that shows the namespaces that `shows` names, of those where there is a Deployment `web`. */
function replicaThat(shows: (namespace: string) => boolean) {
  const cluster = new FakeCluster();
  const base = aDeployment();
  cluster.seed(Deployment, { ...base, metadata: { ...base.metadata, namespace: 'shop', name: 'web' } });
  const informers = new FakeInformers(cluster);
  const deployments = Object.assign(informers.informerFor<Deployment>(Deployment), { showsNamespace: shows });
  const caches = {
    ...({ apiVersion: 'apps/v1', controller: 'deployment', deployments } as const),
    replicaSets: informers.informerFor<ReplicaSet>(ReplicaSet),
    pods: informers.informerFor<Pod>(Pod),
  };
  return { caches: () => [caches] };
}

describe('a Deployment in a path of the admin API', () => {
  it('is found in the caches', () => {
    const found = findDeployment(
      replicaThat(() => true),
      { namespace: 'shop', name: 'web' },
    );
    expect(found.key).toBe('shop/web');
  });

  it('does not exist where the caches show its namespace without it', () => {
    const replica = replicaThat(() => true);
    expect(() => findDeployment(replica, { namespace: 'shop', name: 'other' })).toThrow(
      expect.objectContaining({ status: 404 }),
    );
  });

  it('may exist where another replica holds the slot of its namespace', () => {
    const replica = replicaThat((namespace) => namespace === 'shop');
    expect(() => findDeployment(replica, { namespace: 'bank', name: 'web' })).toThrow(
      expect.objectContaining({ status: 503 }),
    );
  });
});
