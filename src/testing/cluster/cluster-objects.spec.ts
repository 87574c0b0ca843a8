import { beforeEach, describe, expect, it } from 'vitest';
import { abortable } from '../../machinery/cancellation/index.js';
import { FakeClock, SystemRandom } from '../../machinery/clock/index.js';
import { Deployment } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { ApiClient, ReadOptions } from '../../client/api-client/index.js';
import { delegatingClient } from '../../client/api-client/index.js';
import { aDeployment } from '../deployment-builder.js';
import { FakeCluster } from '../fake-cluster.js';
import { ClusterObjects } from './cluster-objects.js';

const NAME = 'deployment/web';

/** A cluster whose lists never finish, as on an overloaded machine; reads of one object are answered. */
describe('a wait whose watch has shown nothing in time', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let objects: ClusterObjects;
  let ended: AbortController;

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster(clock);
    ended = new AbortController();
    const client: ApiClient = {
      ...delegatingClient(cluster),
      list: (_type, options?: ReadOptions) => abortable(new Promise<never>(() => undefined), options?.signal),
    };
    const random = new SystemRandom();
    objects = new ClusterObjects({ client, clock, random, logger: silentLogger, ended: ended.signal });
  });

  it('looks once, and tells how things stand', async () => {
    cluster.seed(Deployment, aDeployment({ replicas: 3 }));
    const ended = expect(objects.waitFor(NAME, 'rollout', { timeoutMs: 50 })).rejects.toThrow(
      /^Deployment default\/web: waited 50 ms for rollout; 0 of 3 replicas available, 0 updated/,
    );
    await clock.advance(50);
    await ended;
  });

  it('is met by what that look shows', async () => {
    cluster.seed(Deployment, aDeployment());
    const met = objects.waitFor(NAME, 'create', { timeoutMs: 50 });
    await clock.advance(50);
    expect((await met)?.metadata.name).toBe('web');
  });

  it('says that there is nothing only where that look finds nothing', async () => {
    const vain = expect(objects.waitFor(NAME, 'create', { timeoutMs: 50 })).rejects.toThrow(
      'Deployment default/web: waited 50 ms for create; it does not exist',
    );
    await clock.advance(50);
    await vain;
  });

  it('ends with the cluster, before that look as well', async () => {
    const vain = expect(objects.waitFor(NAME, 'create')).rejects.toThrow('over');
    await clock.advance(1);
    ended.abort(new Error('over'));
    await vain;
  });
});
