import { describe, expect, it } from 'vitest';
import { deploymentController } from '../../../controllers/deployment/index.js';
import { garbageCollectorController } from '../../../controllers/garbage-collector/garbage-collector-definition.js';
import { daemonSetController } from '../../../controllers/daemonset/daemonset-controller.js';
import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { runController } from '../../../testing/run-controller.js';
import type { ControllerDefinition } from '../../controller/index.js';
import { defineController } from '../define/define-controller.js';
import { Deployment, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { planSync } from './plan-sync.js';

const KEY = 'default/web';

/** The plan of a controller whose caches are filled. */
async function planned(definition: ControllerDefinition) {
  const cluster = new FakeCluster();
  cluster.seed(Deployment, aDeployment());
  const { informers } = runController(definition, cluster);
  const plan = () =>
    planSync({
      ...{ definition, key: KEY, client: cluster, signal: new AbortController().signal },
      dependencies: {
        ...{ informers, discovery: cluster, clock: new FakeClock(), random: new SeededRandom(1) },
        logger: silentLogger,
      },
    });
  return { cluster, plan };
}

describe('the plan of a sync', () => {
  it('is what it would decide, write and tell, and nothing of it is done', async () => {
    const { cluster, plan } = await planned(deploymentController);
    const { decisions, events, writes } = await plan();
    expect(decisions).toMatchObject([{ branch: 'rolling-update', changes: true }]);
    expect(writes.map(({ type, verb }) => `${verb} ${type.resource}`)).toEqual([
      'create replicasets',
      'update deployments',
    ]);
    expect(writes[0]?.body).toMatchObject({ kind: 'ReplicaSet' });
    expect(events).toMatchObject([{ reason: 'ScalingReplicaSet' }]);
    expect(cluster.all(ReplicaSet)).toEqual([]);
  });

  it('is there for a controller that only reconciles, a stranger’s too', async () => {
    const stranger = defineController({
      name: 'stranger',
      for: Deployment,
      async reconcile(_request, { client, object }) {
        if (!object) return {};
        const body = { metadata: { labels: { seen: 'yes' } } };
        await client.patch(Deployment, object.metadata, { type: 'merge', body });
        await client.delete(Deployment, object.metadata);
        return { requeueAfterMs: 7 };
      },
    });
    const { cluster, plan } = await planned(stranger);
    expect(await plan()).toMatchObject({
      decisions: [{ summary: 'patch deployments/web; delete deployments/web', changes: true }],
      writes: [{ verb: 'patch', body: { metadata: { labels: { seen: 'yes' } } } }, { verb: 'delete' }],
      requeueAfterMs: 7,
    });
    expect(cluster.peek<Deployment>(Deployment, KEY)?.metadata.labels?.['seen']).toBeUndefined();
  });

  it('can be asked for again and again, of a controller with indexes and a memory of its own', async () => {
    const { plan } = await planned(daemonSetController);
    for (const _ of [1, 2]) expect(await plan()).toEqual({ decisions: [], writes: [], events: [] });
  });

  it('is refused where syncs go by what is kept where the replica leads', async () => {
    const { plan } = await planned(garbageCollectorController);
    await expect(plan()).rejects.toThrow('cannot be planned');
  });
});
