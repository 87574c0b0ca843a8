import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { controllerOf } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { Loose } from './support/managed-cluster.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
const web = (replicas: number) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name: 'web' },
  spec: { replicas, template },
});

describe('a ReplicationController', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({
      ...{ nodes: 2, clock: 'manual', controllers: 'replicationcontroller,disruption,garbage-collector' },
    });
  });
  afterAll(() => cluster.stop());

  const statusOf = async () => (await cluster.get<Loose>('replicationcontroller/web'))?.status;
  const podsOf = () => cluster.list<Pod>('pods', { labelSelector: 'app=web' });
  const ownersOf = async () => (await podsOf()).map((pod) => controllerOf(pod)?.kind ?? 'none').sort();
  const eventsOf = async () => {
    const events = await cluster.list<Loose>('events', { fieldSelector: 'involvedObject.name=web' });
    return new Set(events.map(({ reason, source }) => `${source.component} ${reason}`));
  };

  it('adopts the pod that it selects by the labels of its template, and makes the others', async () => {
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'stray', labels },
      spec: template.spec,
    });
    await cluster.settled(PATIENT);
    await cluster.apply(web(3));
    await cluster.settled(PATIENT);
    expect(await ownersOf()).toEqual(Array(3).fill('ReplicationController'));
    expect(await statusOf()).toEqual({
      ...{ replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3 },
      observedGeneration: 1,
    });
    expect(await eventsOf()).toContain('replication-controller SuccessfulCreate');
  });

  it('counts for a budget by its scale', async () => {
    await cluster.apply({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'half' },
      spec: { minAvailable: '50%', selector: { matchLabels: labels } },
    });
    await cluster.settled(PATIENT);
    expect((await cluster.get<Loose>('pdb/half'))?.status).toMatchObject({
      ...{ expectedPods: 3, desiredHealthy: 2, disruptionsAllowed: 1 },
    });
  });

  it('shrinks, and replaces a pod that is lost', async () => {
    await cluster.apply(web(2));
    await cluster.settled(PATIENT);
    expect(await statusOf()).toMatchObject({ replicas: 2, observedGeneration: 2 });
    expect(await eventsOf()).toContain('replication-controller SuccessfulDelete');
    const [lost] = await podsOf();
    await cluster.delete(`pod/${lost?.metadata.name}`);
    await cluster.settled(PATIENT);
    expect(await ownersOf()).toEqual(Array(2).fill('ReplicationController'));
  });

  it('takes its pods with it', async () => {
    await cluster.delete('replicationcontroller/web');
    await cluster.settled(PATIENT);
    expect(await podsOf()).toEqual([]);
  });
});
